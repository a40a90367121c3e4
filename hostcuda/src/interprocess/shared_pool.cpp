// Memory pools that several processes use.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/memory_pool.h"
#include "support/config.h"
#include "support/poison.h"

namespace hostcuda {
namespace {

// The content of cudaMemPoolPtrExportData.
struct ExportedPointer {
  std::uint64_t file, offset, size;
};
static_assert(sizeof(ExportedPointer) <= sizeof(cudaMemPoolPtrExportData));

}  // namespace

cudaError_t allocate_in_file(void** pointer, std::size_t size, CUmemPoolHandle_st& pool) {
  if (!pointer || pool.file->is_imported()) return fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  if (!count_bytes(pool.device, size)) return fail(cudaErrorMemoryAllocation);
  char* const bytes = pool.file->allocate(size);
  if (!bytes) {
    uncount_bytes(pool.device, size);
    return fail(cudaErrorMemoryAllocation);
  }
  if (config().poison && size <= kPoisonLimit) fill_with_poison(bytes, size);
  begin_range_in_file(bytes, size, pool);
  *pointer = bytes;
  return cudaSuccess;
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaMemPoolExportToShareableHandle(void* handle, cudaMemPool_t pool,
                                               cudaMemAllocationHandleType type, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (!handle || !is_pool(pool) || flags || type != cudaMemHandleTypePosixFileDescriptor ||
      !pool->file)
    return fail(cudaErrorInvalidValue);
  const int file = fcntl(pool->file->descriptor(), F_DUPFD_CLOEXEC, 0);
  if (file < 0) return fail(cudaErrorOperatingSystem);
  *static_cast<int*>(handle) = file;
  return cudaSuccess;
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* handle,
                                                 cudaMemAllocationHandleType type, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (!pool || flags || type != cudaMemHandleTypePosixFileDescriptor)
    return fail(cudaErrorInvalidValue);
  const auto file = std::make_shared<SharedFile>();
  if (!file->import(static_cast<int>(reinterpret_cast<std::intptr_t>(handle))))
    return fail(cudaErrorInvalidValue);
  *pool = add_pool(current_device());
  (*pool)->file = file;
  return cudaSuccess;
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* pointer) {
  HOSTCUDA_API_CALL;
  const AllocatedRange range = allocation_at(pointer);
  if (!data || range.begin != pointer || !range.file || range.file->is_imported())
    return fail(cudaErrorInvalidValue);
  const ExportedPointer exported{range.file->number(), range.file->offset_of(range.begin),
                                 range.size};
  std::memset(data, 0, sizeof *data);
  std::memcpy(data, &exported, sizeof exported);
  return cudaSuccess;
}

cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t pool,
                                     cudaMemPoolPtrExportData* data) {
  HOSTCUDA_API_CALL;
  if (!pointer || !data || !is_pool(pool) || !pool->file || !pool->file->is_imported())
    return fail(cudaErrorInvalidValue);
  ExportedPointer exported;
  std::memcpy(&exported, data, sizeof exported);
  char* const bytes = pool->file->at(exported.offset, exported.size);
  if (!exported.size || exported.file != pool->file->number() || !bytes ||
      allocation_at(bytes).begin)
    return fail(cudaErrorInvalidValue);
  if (!count_bytes(pool->device, exported.size)) return fail(cudaErrorMemoryAllocation);
  begin_range_in_file(bytes, exported.size, *pool);
  if (runtime_observer) runtime_observer->copied(bytes, nullptr, exported.size);
  *pointer = bytes;
  return cudaSuccess;
}
