// hostcuda: how a module (api.h) tells the library about its kernels. The launcher includes this
// header when it compiles a module, and inserts a ModuleKernel after each kernel.
#pragma once

#include "../launch_functions.h"

namespace hostcuda {

// Where a parameter is in the buffer that cuLaunchKernel's argument `extra` contains.
struct KernelParameter {
  std::size_t offset, size;
};

// The offsets of the parameters are those of a struct whose members are the parameters.
template <class... Parameters>
struct ParameterLayout {
  static constexpr std::size_t kCount = sizeof...(Parameters);
  KernelParameter parameters[kCount + 1] = {};
  constexpr ParameterLayout() {
    std::size_t offset = 0, i = 0;
    ((offset = (offset + alignof(Parameters) - 1) / alignof(Parameters) * alignof(Parameters),
      parameters[i++] = {offset, sizeof(Parameters)}, offset += sizeof(Parameters)),
     ...);
    parameters[kCount] = {offset, 0};  // the size of the buffer
  }
};
template <class... Parameters>
inline constexpr ParameterLayout<Parameters...> kLayout{};

void register_module_kernel(const void* function, const char* name,
                            const KernelParameter* parameters, std::size_t count);
void register_name_expression(const char* expression, const void* address);

class ModuleKernel {
 public:
  template <class... Parameters>
  ModuleKernel(void (*function)(Parameters...), const char* name) {
    register_module_kernel(erased(function, name), name, kLayout<Parameters...>.parameters,
                           sizeof...(Parameters));
  }
};

// NVRTC appends one of these objects to a program for each name expression
// (nvrtcAddNameExpression). If the expression is a kernel, a template is instantiated.
class NameExpression {
 public:
  // name: the expression without its &, for messages.
  template <class... Parameters>
  NameExpression(void (*function)(Parameters...), const char* expression, const char* name) {
    [[maybe_unused]] const ModuleKernel kernel(function, name);
    register_name_expression(expression, reinterpret_cast<const void*>(function));
  }
  NameExpression(const volatile void* variable, const char* expression, const char*) {
    register_name_expression(expression, const_cast<const void*>(variable));
  }
};

}  // namespace hostcuda
