// Tells whether emulated threads are compiled with AddressSanitizer.
#ifndef HOSTCUDA_SRC_SUPPORT_SANITIZER_H
#define HOSTCUDA_SRC_SUPPORT_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__)
#define HOSTCUDA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOSTCUDA_ASAN 1
#endif
#endif

namespace hostcuda {

// For code that is compiled with the options of its library. The other files are compiled once for
// all libraries, so they call the function.
#ifdef HOSTCUDA_ASAN
constexpr bool kAddressSanitizer = true;
#else
constexpr bool kAddressSanitizer = false;
#endif
bool has_address_sanitizer();

}  // namespace hostcuda

#endif
