#include "nvrtc/options.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace hostcuda {
namespace {

enum class Kind {
  flag,          // has no effect here
  with_value,    // has a value and no effect here
  passed,        // nvcc has the same option
  passed_value,  // nvcc has the same option, with a value
  architecture,
  no_folder,  // --no-source-include
  default_device,
  link_later,
};

struct Option {
  std::string_view name, short_name;
  Kind kind;
};

constexpr Option kOptions[] = {
    {"--gpu-architecture", "-arch", Kind::architecture},
    {"--include-path", "-I", Kind::passed_value},
    {"--define-macro", "-D", Kind::passed_value},
    {"--undefine-macro", "-U", Kind::passed_value},
    {"--pre-include", "-include", Kind::passed_value},
    {"--std", "-std", Kind::passed_value},
    {"--device-debug", "-G", Kind::passed},
    {"--generate-line-info", "-lineinfo", Kind::passed},
    {"--disable-warnings", "-w", Kind::passed},
    {"--no-source-include", "-no-source-include", Kind::no_folder},
    {"--device-as-default-execution-space", "-default-device", Kind::default_device},
    {"--dlink-time-opt", "-dlto", Kind::link_later},
    {"--device-c", "-dc", Kind::flag},
    {"--device-w", "-dw", Kind::flag},
    {"--extensible-whole-program", "-ewp", Kind::flag},
    {"--use_fast_math", "-use_fast_math", Kind::flag},
    {"--extra-device-vectorization", "-extra-device-vectorization", Kind::flag},
    {"--modify-stack-limit", "-modify-stack-limit", Kind::with_value},
    {"--gen-opt-lto", "-gen-opt-lto", Kind::flag},
    {"--restrict", "-restrict", Kind::flag},
    {"--device-int128", "-device-int128", Kind::flag},
    {"--device-float128", "-device-float128", Kind::flag},
    {"--device-stack-protector", "-device-stack-protector", Kind::with_value},
    {"--display-error-number", "-err-no", Kind::flag},
    {"--no-display-error-number", "-no-err-no", Kind::flag},
    {"--fdevice-syntax-only", "-fdevice-syntax-only", Kind::flag},
    {"--minimal", "-minimal", Kind::flag},
    {"--no-cache", "-no-cache", Kind::flag},
    {"--pch", "-pch", Kind::flag},
    {"--Wreorder", "-Wreorder", Kind::flag},
    {"--dopt", "-dopt", Kind::with_value},
    {"--relocatable-device-code", "-rdc", Kind::with_value},
    {"--maxrregcount", "-maxrregcount", Kind::with_value},
    {"--ptxas-options", "-Xptxas", Kind::with_value},
    {"--ftz", "-ftz", Kind::with_value},
    {"--prec-sqrt", "-prec-sqrt", Kind::with_value},
    {"--prec-div", "-prec-div", Kind::with_value},
    {"--fmad", "-fmad", Kind::with_value},
    {"--builtin-move-forward", "-builtin-move-forward", Kind::with_value},
    {"--builtin-initializer-list", "-builtin-initializer-list", Kind::with_value},
    {"--jump-table-density", "-jtd", Kind::with_value},
    {"--optimization-info", "-opt-info", Kind::with_value},
    {"--diag-error", "-diag-error", Kind::with_value},
    {"--diag-suppress", "-diag-suppress", Kind::with_value},
    {"--diag-warn", "-diag-warn", Kind::with_value},
    {"--brief-diagnostics", "-brief-diag", Kind::with_value},
    {"--time", "-time", Kind::with_value},
    {"--split-compile", "-split-compile", Kind::with_value},
    {"--random-seed", "-random-seed", Kind::with_value},
    {"--version-ident", "-dQ", Kind::with_value},
};

bool takes_value(Kind kind) {
  return kind == Kind::with_value || kind == Kind::passed_value || kind == Kind::architecture;
}

// An option's value follows =, or is the next word. The value of -I, -D and -U may also follow
// directly.
struct Parsed {
  const Option* option = nullptr;
  std::string value;
  bool has_value = false;
};

Parsed parse(std::string_view word) {
  for (const Option& option : kOptions)
    for (const std::string_view name : {option.name, option.short_name}) {
      if (word.substr(0, name.size()) != name) continue;
      const std::string_view rest = word.substr(name.size());
      if (rest.empty()) return {&option, "", false};
      if (rest[0] == '=') return {&option, std::string(rest.substr(1)), true};
      if (name.size() == 2 && option.kind == Kind::passed_value)
        return {&option, std::string(rest), true};
    }
  return {};
}

// Sets the macro that device code may test. Returns false for an unknown architecture.
bool choose_architecture(const std::string& value, NvrtcOptions& result) {
  result.real_architecture = value.compare(0, 3, "sm_") == 0;
  const std::size_t prefix = result.real_architecture               ? 3
                             : value.compare(0, 8, "compute_") == 0 ? 8
                                                                    : std::string::npos;
  if (prefix == std::string::npos) return false;
  char* end = nullptr;
  const long number = std::strtol(value.c_str() + prefix, &end, 10);
  const std::string_view suffix = end;  // of features that only some GPUs have
  if (suffix != "" && suffix != "a" && suffix != "f") return false;
  const auto& known = nvrtc_architectures();
  if (std::find(known.begin(), known.end(), number) == known.end()) return false;
  result.words.push_back("-D__CUDA_ARCH__=" + std::to_string(number * 10));
  result.has_architecture = true;
  return true;
}

void apply(const Parsed& parsed, NvrtcOptions& result) {
  switch (parsed.option->kind) {
    case Kind::architecture:
      if (!choose_architecture(parsed.value, result))
        result.error = "invalid value '" + parsed.value +
                       "' for --gpu-architecture (-arch); sm_90 and compute_90, for example, are "
                       "valid";
      break;
    case Kind::passed:
      result.words.emplace_back(parsed.option->short_name);
      break;
    case Kind::passed_value:
      result.words.emplace_back(parsed.option->short_name);
      result.words.push_back(parsed.value);
      result.has_architecture |= parsed.value.compare(0, 14, "__CUDA_ARCH__=") == 0;
      break;
    case Kind::no_folder:
      result.searches_folder_of_name = false;
      break;
    case Kind::default_device:
      result.words.emplace_back("--hostcuda-unchecked");
      break;
    case Kind::link_later:
      result.links_later = true;
      break;
    case Kind::flag:
    case Kind::with_value:
      break;
  }
}

}  // namespace

const std::vector<int>& nvrtc_architectures() {
  static const auto* list =
      new std::vector<int>{75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
  return *list;
}

NvrtcOptions translate_nvrtc_options(int count, const char* const* options) {
  NvrtcOptions result;
  for (int i = 0; i < count && result.error.empty(); ++i) {
    Parsed parsed = parse(options[i]);
    if (!parsed.option) {
      result.error = std::string("unrecognized option ") + options[i];
    } else if (takes_value(parsed.option->kind) && !parsed.has_value) {
      if (++i == count)
        result.error = std::string(options[i - 1]) + " needs a value";
      else
        parsed.value = options[i];
    }
    if (result.error.empty()) apply(parsed, result);
  }
  if (!result.has_architecture)
    result.words.emplace_back("-D__CUDA_ARCH__=750");  // NVRTC's default
  return result;
}

}  // namespace hostcuda
