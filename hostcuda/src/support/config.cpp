#include "support/config.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace hostcuda {
namespace {

std::vector<std::string>& names() {
  static auto* list = new std::vector<std::string>{
      "HOSTCUDA_ORDER",      "HOSTCUDA_STREAMS",   "HOSTCUDA_SEED",        "HOSTCUDA_DEVICES",
      "HOSTCUDA_SMS",        "HOSTCUDA_MEMORY",    "HOSTCUDA_STRICT_MEM",  "HOSTCUDA_POISON",
      "HOSTCUDA_DIVERGENCE", "HOSTCUDA_FAIL_CALL", "HOSTCUDA_LOSE_DEVICE", "HOSTCUDA_WATCHDOG",
      "HOSTCUDA_ADDR2LINE",  "HOSTCUDA_ROOM"};
  return *list;
}

[[noreturn]] void refuse(const char* name, const char* value, const std::string& allowed) {
  std::fflush(stdout);
  std::fprintf(stderr, "hostcuda: %s=%s is not allowed; allowed: %s\n", name, value,
               allowed.c_str());
  std::exit(2);
}

// Rejects a misspelt name. Otherwise the program would run in the default mode, and a check in
// another mode would seem to pass.
void refuse_unknown_names() {
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("HOSTCUDA_")) continue;
    const std::string name(text.substr(0, text.find('=')));
    bool known = false;
    std::string allowed;
    for (const std::string& candidate : names()) {
      known |= name == candidate;
      allowed += (allowed.empty() ? "" : ", ") + candidate;
    }
    if (!known) {
      const std::size_t equals = text.find('=');
      const char* value = equals == text.npos ? "" : *entry + equals + 1;
      refuse(name.c_str(), value, "only the variables " + allowed);
    }
  }
}

// Returns the index in `words` of the variable's value. The first word is the default.
std::size_t choice(const char* name, std::initializer_list<const char*> words,
                   std::size_t otherwise = 0) {
  const char* value = std::getenv(name);
  if (!value) return otherwise;
  std::string allowed;
  std::size_t index = 0;
  for (const char* word : words) {
    if (!std::strcmp(word, value)) return index;
    allowed += std::string(index++ ? "|" : "") + word;
  }
  refuse(name, value, allowed);
}

std::uint64_t number(const char* name, std::uint64_t low, std::uint64_t high,
                     std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  if (!value) return otherwise;
  std::uint64_t result = 0;
  bool good = *value != '\0';
  for (const char* digit = value; good && *digit; ++digit) {
    good = *digit >= '0' && *digit <= '9' && !__builtin_mul_overflow(result, 10u, &result) &&
           !__builtin_add_overflow(result, static_cast<unsigned>(*digit - '0'), &result);
  }
  if (!good || result < low || result > high)
    refuse(name, value,
           "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return result;
}

double seconds(const char* name, double high, double otherwise) {
  const char* value = std::getenv(name);
  if (!value) return otherwise;
  const std::string_view text = value;
  double result = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), result);
  // The condition is negated so that NaN is also rejected.
  if (error != std::errc() || end != text.end() || !(result >= 0 && result <= high))
    refuse(name, value, "seconds from 0 to " + std::to_string(static_cast<int>(high)));
  return result;
}

Config read_environment() {
  refuse_unknown_names();
  Config c;
  c.order =
      static_cast<Order>(choice("HOSTCUDA_ORDER", {"forward", "reverse", "random", "skewed"}));
  c.streams = static_cast<StreamMode>(choice("HOSTCUDA_STREAMS", {"eager", "lazy", "random"}));
  c.seed = number("HOSTCUDA_SEED", 0, UINT64_MAX, 1);
  c.devices = static_cast<int>(number("HOSTCUDA_DEVICES", 0, 16, 1));
  c.multiprocessors = static_cast<int>(number("HOSTCUDA_SMS", 1, 1024, 8));
  c.memory = number("HOSTCUDA_MEMORY", 1, std::uint64_t{1} << 40, std::uint64_t{8} << 30);
  c.strict_memory = choice("HOSTCUDA_STRICT_MEM", {"0", "1"}) == 1;
  c.poison = choice("HOSTCUDA_POISON", {"0", "1"}, 1) == 1;
  c.room = number("HOSTCUDA_ROOM", 0, std::uint64_t{1} << 30, 0);
  c.divergence_is_error = choice("HOSTCUDA_DIVERGENCE", {"error", "warn"}) == 0;
  c.watchdog = seconds("HOSTCUDA_WATCHDOG", 1000000, 60);
  c.fail_call = number("HOSTCUDA_FAIL_CALL", 0, UINT64_MAX, 0);
  c.lose_device = number("HOSTCUDA_LOSE_DEVICE", 0, UINT64_MAX, 0);
  return c;
}

}  // namespace

void allow_variable(const char* name) { names().push_back(name); }

const Config& config() {
  static const Config instance = read_environment();
  return instance;
}

}  // namespace hostcuda
