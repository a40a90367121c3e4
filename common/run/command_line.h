// Parses a command line strictly: the whole of each token must be valid ("12abc" is not), its value
// must be in the option's range or list, and each option may occur only once. Otherwise throws a
// UsageError that gives the option, its value and the allowed values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/species.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody {

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& description);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Adds an option. Calls `take` with the value as the user wrote it. --help shows `type` in place
  // of a value.
  void option(const std::string& name, const std::string& type, const std::string& help,
              const std::function<void(const std::string&)>& take);
  // Adds a required positional argument. Arguments are expected in the order of these calls.
  void word(const std::string& name, std::string& target, const std::string& help);
  // Adds a list of one or more positional arguments.
  void words(const std::string& name, std::vector<std::string>& target, const std::string& help);
  void flag(const std::string& name, bool& target, const std::string& help);
  // Adds an option with a number. Its upper limit is the largest float32, because kernels compute
  // with a float32. With Sign::either, the limits apply to the magnitude of the number.
  enum class Sign { positive, either };
  void real(const std::string& name, std::optional<double>& target, double low,
            const std::string& allowed, const std::string& help, Sign sign = Sign::positive);
  void species(const std::string& name, std::vector<Species>& target, const std::string& help);

  template <class Target>
  void whole(const std::string& name, Target& target, long long low, long long high,
             const std::string& help) {
    option(name, "N", help, [=, &target](const std::string& text) {
      const auto value = parse_count<long long>(text);
      if (!value || *value < low || *value > high)
        refuse(name, text, "a whole number from ", low, " to ", high);
      target = static_cast<int>(*value);
    });
  }

  template <class Target>
  void seed(const std::string& name, Target& target, const std::string& help) {
    option(name, "K", help, [=, &target](const std::string& text) {
      const auto value = parse_count<std::uint64_t>(text);
      if (!value) refuse(name, text, "a whole number from 0 to 18446744073709551615");
      target = *value;
    });
  }

  template <class Choice, class Target>
  void choice(const std::string& name, Target& target, const std::map<std::string, Choice>& choices,
              const std::string& help) {
    const std::string names = listed(choices, [](const auto& choice) { return choice.first; });
    option(name, "WORD", help + ": " + names, [=, &target](const std::string& text) {
      const auto found = choices.find(text);
      if (found == choices.end()) refuse(name, text, "one of ", names);
      target = found->second;
    });
  }

  template <class Target>
  void text(const std::string& name, Target& target, const std::string& help) {
    option(name, "NAME", help, [=, &target](const std::string& text) {
      if (text.empty()) refuse(name, text, "a name that is not empty");
      target = text;
    });
  }

  // If the arguments contain --help or --version, prints the requested text and returns false.
  // Throws UsageError.
  bool parse(int argc, char** argv);

 private:
  struct Library;  // CLI11 takes longer to compile than all our headers together
  std::unique_ptr<Library> library_;
};

}  // namespace nbody
