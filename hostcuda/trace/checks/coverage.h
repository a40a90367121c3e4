// Checks that launches and copies covered a whole array.
#ifndef HOSTCUDA_TRACE_CHECKS_COVERAGE_H
#define HOSTCUDA_TRACE_CHECKS_COVERAGE_H

#include <optional>

#include "checks/arrays.h"
#include "races/epochs.h"
#include "records/finding.h"

namespace hostcuda::trace {

// Reports bytes that are copied to the host although nothing wrote them, or although a kernel wrote
// only the bytes before them.
std::optional<Finding> missing_part(const Array& array, std::size_t offset, std::size_t size,
                                    const Epochs& epochs);

// Reports an array that was written completely but of which only the first quarter or eighth was
// copied back. The usual cause is a program that passes a number of elements instead of a number of
// bytes.
std::optional<Finding> bytes_for_elements(const Array& array);

}  // namespace hostcuda::trace

#endif
