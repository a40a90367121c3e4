#include "support/sanitizer.h"

namespace hostcuda {

bool has_address_sanitizer() { return kAddressSanitizer; }

}  // namespace hostcuda
