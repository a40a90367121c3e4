// Runs hostcuda's nvcc in a temporary folder.
#ifndef HOSTCUDA_SRC_NVRTC_COMPILER_H
#define HOSTCUDA_SRC_NVRTC_COMPILER_H

#include <map>
#include <string>
#include <vector>

namespace hostcuda {

struct NvrtcSource {
  std::string text, name;
  std::map<std::string, std::string> headers;
  std::vector<std::string> expressions;
};

struct NvrtcOutput {
  bool is_compiled = false;
  std::string ptx;  // a module (driver/image.h)
  std::string log;
};

// Returns what the name expression names: the expression without its &.
std::string name_in(const std::string& expression);

// Returns the path of hostcuda's nvcc, which is normally in the folder bin next to the folder of
// the header. Throws an exception if there is no nvcc of hostcuda.
std::string find_nvcc(const std::string& header);

// nvcc: the path of hostcuda's nvcc. Throws an exception if the compiler cannot be run.
NvrtcOutput compile_nvrtc(const NvrtcSource& source, const std::vector<std::string>& options,
                          bool searches_folder_of_name, const std::string& nvcc);

}  // namespace hostcuda

#endif
