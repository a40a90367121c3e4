// The launch limits of compute capability 9.0, which hostcuda enforces and reports.
#ifndef HOSTCUDA_SRC_SUPPORT_LIMITS_H
#define HOSTCUDA_SRC_SUPPORT_LIMITS_H

namespace hostcuda::limits {

constexpr int kThreadsPerBlock = 1024;
constexpr int kBlockZ = 64;
constexpr int kGridX = 0x7fffffff;
constexpr int kGridYZ = 65535;
constexpr int kSharedPerBlock = 48 << 10;  // the limit unless cudaFuncSetAttribute raises it
constexpr int kSharedPerBlockOptIn = 227 << 10;
constexpr int kSharedPerMultiprocessor = 228 << 10;
constexpr int kSharedReservedPerBlock = 1 << 10;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr unsigned kBlocksPerPortableCluster = 8;
constexpr unsigned kBlocksPerCluster = 16;  // with cudaFuncAttributeNonPortableClusterSizeAllowed
constexpr int kLeastPriority = 0;           // of a stream
constexpr int kGreatestPriority = -5;

}  // namespace hostcuda::limits

#endif
