#include "run/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "nbody/error.h"
#include "run/program.h"
#include "support/nearest.h"

namespace nbody {
namespace {

// Throws an error that replaces CLI11's message, which only lists all unused words in reverse
// order.
[[noreturn]] void refuse_words(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  const auto option = std::find_if(words.begin(), words.end(),
                                   [](const std::string& word) { return word.starts_with('-'); });
  if (option == words.end()) throw UsageError("unexpected word ", words.front(), " (see --help)");
  const std::string wrong = option->substr(0, option->find('='));
  std::vector<std::string> known;
  for (const CLI::Option* one : app.get_options())
    for (const std::string& name : one->get_lnames()) known.push_back("--" + name);
  const std::string near = nearest(wrong, known);
  throw UsageError("unknown option ", wrong, near.empty() ? "" : ": did you mean " + near + "?",
                   " (see --help)");
}

}  // namespace

struct CommandLine::Library {
  CLI::App app;
};

CommandLine::CommandLine(const std::string& program, const std::string& description)
    : library_(new Library{CLI::App(description, program)}) {
  library_->app.set_version_flag("--version", program + " " + revision());
  library_->app.get_formatter()->column_width(38);
#if CLI11_VERSION_MAJOR > 2 || (CLI11_VERSION_MAJOR == 2 && CLI11_VERSION_MINOR >= 5)
  library_->app.get_formatter()->enable_description_formatting(false);  // keeps our line breaks
#endif
}

CommandLine::~CommandLine() = default;

void CommandLine::option(const std::string& name, const std::string& type, const std::string& help,
                         const std::function<void(const std::string&)>& take) {
  library_->app.add_option_function<std::string>(name, take, help)->type_name(type);
}

void CommandLine::word(const std::string& name, std::string& target, const std::string& help) {
  library_->app.add_option(name, target, help)->required();
}

void CommandLine::words(const std::string& name, std::vector<std::string>& target,
                        const std::string& help) {
  library_->app.add_option(name, target, help)->required();
}

void CommandLine::flag(const std::string& name, bool& target, const std::string& help) {
  library_->app.add_flag(name, target, help);
}

void CommandLine::real(const std::string& name, std::optional<double>& target, double low,
                       const std::string& allowed, const std::string& help, Sign sign) {
  option(name, "X", help, [=, &target](const std::string& text) {
    const auto value = parse_whole<double>(text);
    const double size = sign == Sign::either ? std::abs(value.value_or(0)) : value.value_or(0);
    if (!value || !(size >= low) || size > std::numeric_limits<float>::max())
      refuse(name, text, allowed);
    target = *value;
  });
}

void CommandLine::species(const std::string& name, std::vector<Species>& target,
                          const std::string& help) {
  option(name, "LIST", help,
         [=, &target](const std::string& text) { target = parse_species(name, text); });
}

bool CommandLine::parse(int argc, char** argv) {
  try {
    library_->app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& success) {
    library_->app.exit(success);
    return false;
  } catch (const CLI::ExtrasError&) {
    refuse_words(library_->app);
  } catch (const CLI::ParseError& error) {
    std::string line = error.what();
    for (char& c : line) c = c == '\n' ? ' ' : c;
    throw UsageError(line, " (see --help)");
  }
}

}  // namespace nbody
