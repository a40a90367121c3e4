// Checks that launches and copies covered the whole of an array.
#ifndef HOSTCUDA_TRACE_CHECKS_COVERAGE_H
#define HOSTCUDA_TRACE_CHECKS_COVERAGE_H

#include <optional>

#include "checks/arrays.h"
#include "races/epochs.h"
#include "support/finding.h"

namespace hostcuda::trace {

// Reports bytes that are copied to the host although no kernel wrote them, or although a kernel
// wrote the bytes before them but left these out.
std::optional<Finding> missing_part(const Array& array, std::size_t offset, std::size_t size,
                                    const Epochs& epochs);

// Reports an array that was written completely although only its first quarter or eighth was copied
// back. The usual cause is a program that passes a number of elements instead of a number of bytes.
std::optional<Finding> bytes_for_elements(const Array& array);

}  // namespace hostcuda::trace

#endif
