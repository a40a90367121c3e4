// A cudaArray: rows of texels, without gaps between the rows, in the memory of a device.
#ifndef HOSTCUDA_SRC_RUNTIME_ARRAY_H
#define HOSTCUDA_SRC_RUNTIME_ARRAY_H

#include "hostcuda/array_api.h"

struct cudaArray {
  cudaChannelFormatDesc format;
  cudaExtent extent;  // size in elements; height and depth are 0 if the array lacks them
  unsigned flags;
  char* data;
  std::size_t element() const {
    return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
  }
  std::size_t pitch() const { return extent.width * element(); }
  std::size_t rows() const { return extent.height ? extent.height : 1; }
  std::size_t slices() const { return extent.depth ? extent.depth : 1; }
  std::size_t bytes() const { return pitch() * rows() * slices(); }
};

#endif
