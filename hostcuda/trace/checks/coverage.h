// Checks that launches and copies reached all of an array.
#ifndef HOSTCUDA_TRACE_CHECKS_COVERAGE_H
#define HOSTCUDA_TRACE_CHECKS_COVERAGE_H

#include <optional>

#include "checks/arrays.h"
#include "races/epochs.h"
#include "support/finding.h"

namespace hostcuda::trace {

// Reports a range that is copied to the host although no kernel wrote it, or although the kernel
// that wrote the bytes before did not write it.
std::optional<Finding> missing_part(const Array& array, std::size_t offset, std::size_t size,
                                    const Epochs& epochs);

// Reports an array of which only the first quarter or eighth was copied back, though all was
// written.
std::optional<Finding> bytes_for_elements(const Array& array);

}  // namespace hostcuda::trace

#endif
