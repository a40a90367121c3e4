// memcpy, memmove and memset for traced programs. The launcher replaces the program's calls by
// these, because the compiler also calls memcpy to copy a struct, and that copy is reported
// separately.
#pragma once

extern "C" {
void* hostcuda_memcpy(void* to, const void* from, unsigned long size);  // the ranges may overlap
void* hostcuda_memset(void* to, int value, unsigned long size);
}
namespace std {  // for calls of std::memcpy
using ::hostcuda_memcpy;
using ::hostcuda_memset;
}  // namespace std
