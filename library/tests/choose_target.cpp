// Limits Highway to one instruction set, which NBODY_SIMD specifies, before the tests begin. If
// Highway is a shared library, this limits libnbody, too. Exits with 77 if the processor lacks the
// instruction set.
#include <hwy/highway.h>

#include <cstdlib>
#include <cstring>

namespace {
const bool chosen = [] {
  const char* const name = std::getenv("NBODY_SIMD");
  if (name == nullptr) return false;
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    if (std::strcmp(name, hwy::TargetName(target)) != 0) continue;
    hwy::DisableTargets(~target);
    return true;
  }
  std::_Exit(77);
}();
}  // namespace
