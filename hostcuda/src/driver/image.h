// The forms that a module has in files and in memory. A cubin or fatbin is the module's shared
// library itself. PTX is text, because programs handle it as a string: it contains the library in
// base64 (launcher/modules.py writes it).
#ifndef HOSTCUDA_SRC_DRIVER_IMAGE_H
#define HOSTCUDA_SRC_DRIVER_IMAGE_H

#include <cstddef>
#include <string>

#include "cuda.h"

namespace hostcuda {

struct Image {
  std::string library;  // the bytes of the shared library
  CUresult error = CUDA_SUCCESS;
  std::string reason;  // of the error: a sentence without a full stop
};

// size: 0 if it is unknown; then the image ends where its format says.
Image read_image(const void* data, std::size_t size);
Image read_image_file(const char* file);

}  // namespace hostcuda

#endif
