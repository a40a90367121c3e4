// Whether launches and copies reached all of an array.
#ifndef HOSTCUDA_TRACE_CHECKS_COVERAGE_H
#define HOSTCUDA_TRACE_CHECKS_COVERAGE_H

#include <optional>

#include "checks/arrays.h"
#include "races/epochs.h"
#include "support/finding.h"

namespace hostcuda::trace {

// What is copied to the host and was never written, or not by the launch that wrote what is before.
std::optional<Finding> missing_part(const Array& array, std::size_t offset, std::size_t size,
                                    const Epochs& epochs);

// An array whose first quarter or eighth alone was copied back, although kernels wrote all of it.
std::optional<Finding> bytes_for_elements(const Array& array);

}  // namespace hostcuda::trace

#endif
