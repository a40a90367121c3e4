// Tables of virtual functions, as the Itanium C++ ABI lays them out.
#ifndef HOSTCUDA_TRACE_CHECKS_VIRTUAL_TABLE_H
#define HOSTCUDA_TRACE_CHECKS_VIRTUAL_TABLE_H

#include <string>

namespace hostcuda::trace {

// The class whose table is at this address of the program's; empty where it is none.
std::string class_of_virtual_table(const void* address);

}  // namespace hostcuda::trace

#endif
