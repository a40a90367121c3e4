// Translates NVRTC's options to options of hostcuda's nvcc.
#ifndef HOSTCUDA_SRC_NVRTC_OPTIONS_H
#define HOSTCUDA_SRC_NVRTC_OPTIONS_H

#include <string>
#include <vector>

namespace hostcuda {

struct NvrtcOptions {
  std::vector<std::string> words;       // for nvcc
  std::string error;                    // one line, if an option is invalid
  bool real_architecture = false;       // sm_90, not compute_90
  bool has_architecture = false;        // an option defines __CUDA_ARCH__
  bool links_later = false;             // -dlto
  bool searches_folder_of_name = true;  // for files that the program includes
};
NvrtcOptions translate_nvrtc_options(int count, const char* const* options);

// The compute capabilities that NVRTC accepts.
const std::vector<int>& nvrtc_architectures();

}  // namespace hostcuda

#endif
