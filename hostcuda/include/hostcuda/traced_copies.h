// memcpy, memmove and memset for traced programs. The launcher makes the program call these
// functions. memcpy itself is not replaced, because the compiler also calls it to copy a struct,
// and such copies are reported separately.
#pragma once

extern "C" {
void* hostcuda_memcpy(void* to, const void* from, unsigned long size);  // the ranges may overlap
void* hostcuda_memset(void* to, int value, unsigned long size);
}
namespace std {  // for calls of std::memcpy
using ::hostcuda_memcpy;
using ::hostcuda_memset;
}  // namespace std
