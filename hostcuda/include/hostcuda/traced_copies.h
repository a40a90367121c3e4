// memcpy, memmove and memset for programs that are traced: the launcher puts these names for
// theirs, because the compiler calls memcpy for the copy of a struct, too, which tells of itself.
#pragma once

extern "C" {
void* hostcuda_memcpy(void* to, const void* from, unsigned long size);  // they may overlap
void* hostcuda_memset(void* to, int value, unsigned long size);
}
namespace std {  // for std::memcpy
using ::hostcuda_memcpy;
using ::hostcuda_memset;
}  // namespace std
