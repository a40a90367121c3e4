// NVRTC's functions.
#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <set>

#include "driver/image.h"
#include "driver/module.h"
#include "nvrtc.h"
#include "nvrtc/compiler.h"
#include "nvrtc/options.h"
#include "runtime/api.h"

struct _nvrtcProgram {
  hostcuda::NvrtcSource source;
  bool was_compiled = false;  // successfully or not
  bool is_valid = false;
  bool has_cubin = false, has_ltoir = false;
  std::string log, ptx, library;
  std::map<std::string, std::string> lowered;
};

namespace hostcuda {
namespace {

std::recursive_mutex& programs_mutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

std::set<nvrtcProgram>& programs() {
  static auto* set = new std::set<nvrtcProgram>;
  return *set;
}

bool is_program(nvrtcProgram program) {
  const std::lock_guard lock(programs_mutex());
  return programs().contains(program);
}

// Loads the module to learn the names that the compiler gave to the expressions.
bool find_lowered_names(nvrtcProgram program, Image& image) {
  const std::lock_guard lock(api_mutex());
  CUmod_st* const module = load_module(image);
  if (!module) return false;
  for (const auto& [expression, address] : module->expressions)
    program->lowered[expression] = symbol_at(address, name_in(expression));
  unload_module(module);
  return true;
}

nvrtcResult compile(nvrtcProgram program, const NvrtcOptions& options, const std::string& nvcc) {
  NvrtcOutput output =
      compile_nvrtc(program->source, options.words, options.searches_folder_of_name, nvcc);
  program->log = std::move(output.log);
  if (!output.is_compiled) return NVRTC_ERROR_COMPILATION;
  program->ptx = std::move(output.ptx);
  Image image = read_image(program->ptx.data(), program->ptx.size());
  if (image.error) {
    program->log += "error: " + image.reason + "\n";
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
  program->library = image.library;
  if (!program->source.expressions.empty() && !find_lowered_names(program, image)) {
    program->log += "error: " + image.reason + "\n";
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
  program->has_cubin = options.real_architecture;
  program->has_ltoir = options.links_later;
  program->is_valid = true;
  return NVRTC_SUCCESS;
}

// Copies a result, or returns its size if there is no buffer.
nvrtcResult give(nvrtcProgram program, const std::string& bytes, bool with_zero, std::size_t* size,
                 char* buffer) {
  if (!is_program(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  if (size) *size = bytes.size() + with_zero;
  if (buffer) std::memcpy(buffer, bytes.c_str(), bytes.size() + with_zero);
  return size || buffer ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_INPUT;
}

nvrtcResult give_code(nvrtcProgram program, bool exists, std::size_t* size, char* buffer) {
  if (!is_program(program) || !program->is_valid) return NVRTC_ERROR_INVALID_PROGRAM;
  return give(program, exists ? program->library : "", false, size, buffer);
}

constexpr const char* kErrors[] = {
    "NVRTC_SUCCESS",
    "NVRTC_ERROR_OUT_OF_MEMORY",
    "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
    "NVRTC_ERROR_INVALID_INPUT",
    "NVRTC_ERROR_INVALID_PROGRAM",
    "NVRTC_ERROR_INVALID_OPTION",
    "NVRTC_ERROR_COMPILATION",
    "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
    "NVRTC_ERROR_INTERNAL_ERROR",
    "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
    "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
    "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
    "NVRTC_ERROR_PCH_CREATE",
    "NVRTC_ERROR_CANCELLED",
    "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
};

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

const char* nvrtcGetErrorString(nvrtcResult result) {
  const bool is_known = result >= 0 && result < static_cast<int>(std::size(kErrors));
  return is_known ? kErrors[result] : "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
  *major = CUDA_VERSION / 1000;
  *minor = CUDA_VERSION % 1000 / 10;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  if (!count) return NVRTC_ERROR_INVALID_INPUT;
  *count = static_cast<int>(nvrtc_architectures().size());
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int* architectures) {
  if (!architectures) return NVRTC_ERROR_INVALID_INPUT;
  std::copy(nvrtc_architectures().begin(), nvrtc_architectures().end(), architectures);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name,
                               int count, const char* const* headers,
                               const char* const* include_names) {
  if (!program || !source || count < 0 || (count > 0 && (!headers || !include_names)))
    return NVRTC_ERROR_INVALID_INPUT;
  auto* made = new _nvrtcProgram;
  made->source.text = source;
  made->source.name = name && *name ? name : "default_program";
  for (int i = 0; i < count; ++i) made->source.headers[include_names[i]] = headers[i];
  const std::lock_guard lock(programs_mutex());
  programs().insert(made);
  *program = made;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  const std::lock_guard lock(programs_mutex());
  if (!program || !programs().erase(*program)) return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult hostcuda_nvrtc_compile(nvrtcProgram program, int count, const char* const* options,
                                   const char* header) {
  if (!is_program(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  if (count < 0 || (count > 0 && !options)) return NVRTC_ERROR_INVALID_INPUT;
  const NvrtcOptions translated = translate_nvrtc_options(count, options);
  program->was_compiled = true;
  program->is_valid = false;
  program->log = "nvrtc: error: " + translated.error + "\n";
  if (!translated.error.empty()) return NVRTC_ERROR_INVALID_OPTION;
  try {
    return compile(program, translated, find_nvcc(header));
  } catch (const std::exception& error) {
    program->log = std::string("nvrtc: error: ") + error.what() + "\n";
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression) {
  if (!is_program(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!expression || !*expression) return NVRTC_ERROR_INVALID_INPUT;
  if (program->was_compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  program->source.expressions.emplace_back(expression);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name) {
  if (!is_program(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!expression || !name) return NVRTC_ERROR_INVALID_INPUT;
  if (!program->is_valid) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const auto found = program->lowered.find(expression);
  if (found == program->lowered.end()) return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *name = found->second.c_str();
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* size) {
  return give(program, is_program(program) ? program->log : "", true, size, nullptr);
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  return give(program, is_program(program) ? program->log : "", true, nullptr, log);
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, std::size_t* size) {
  if (!is_program(program) || !program->is_valid) return NVRTC_ERROR_INVALID_PROGRAM;
  return give(program, program->ptx, true, size, nullptr);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx) {
  if (!is_program(program) || !program->is_valid) return NVRTC_ERROR_INVALID_PROGRAM;
  return give(program, program->ptx, true, nullptr, ptx);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* size) {
  return give_code(program, is_program(program) && program->has_cubin, size, nullptr);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  return give_code(program, is_program(program) && program->has_cubin, nullptr, cubin);
}

nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram program, std::size_t* size) {
  return give_code(program, is_program(program) && program->has_ltoir, size, nullptr);
}

nvrtcResult nvrtcGetLTOIR(nvrtcProgram program, char* code) {
  return give_code(program, is_program(program) && program->has_ltoir, nullptr, code);
}
