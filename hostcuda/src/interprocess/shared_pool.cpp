// Memory pools that several processes use.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

// The file has only those pages that were written. Freed addresses are not used again.
constexpr std::size_t kFileSize = std::size_t{64} << 30;
constexpr std::size_t kPage = 4096;

// What cudaMemPoolPtrExportData contains.
struct ExportedPointer {
  std::uint64_t file, offset, size;
};
static_assert(sizeof(ExportedPointer) <= sizeof(cudaMemPoolPtrExportData));

}  // namespace

SharedFile::~SharedFile() {
  if (base_) munmap(base_, size_);
  if (file_ >= 0) close(file_);
}

bool SharedFile::map() {
  struct stat status = {};
  if (fstat(file_, &status) != 0 || status.st_size <= 0) return false;
  size_ = static_cast<std::size_t>(status.st_size);
  number_ = status.st_ino;
  constexpr int kFlags = MAP_SHARED | MAP_NORESERVE;
  void* const mapping = mmap(nullptr, size_, PROT_READ | PROT_WRITE, kFlags, file_, 0);
  if (mapping == MAP_FAILED) return false;
  base_ = static_cast<char*>(mapping);
  return true;
}

bool SharedFile::create() {
  file_ = memfd_create("hostcuda-pool", MFD_CLOEXEC);
  return file_ >= 0 && ftruncate(file_, static_cast<off_t>(kFileSize)) == 0 && map();
}

bool SharedFile::import(int file) {
  file_ = fcntl(file, F_DUPFD_CLOEXEC, 0);
  return file_ >= 0 && map();
}

char* SharedFile::allocate(std::size_t size) {
  const std::size_t rounded = (size + kPage - 1) / kPage * kPage;
  if (rounded < size || rounded > size_ - used_) return nullptr;
  used_ += rounded;
  return base_ + used_ - rounded;
}

char* SharedFile::at(std::size_t offset, std::size_t size) const {
  return offset <= size_ && size <= size_ - offset ? base_ + offset : nullptr;
}

cudaError_t allocate_in_file(void** pointer, std::size_t size, CUmemPoolHandle_st& pool) {
  if (!pointer || pool.is_imported) return fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  if (!count_bytes(pool.device, size)) return fail(cudaErrorMemoryAllocation);
  char* const bytes = pool.file.allocate(size);
  if (!bytes) {
    uncount_bytes(pool.device, size);
    return fail(cudaErrorMemoryAllocation);
  }
  if (config().poison && size <= kPoisonLimit) fill_with_poison(bytes, size);
  begin_range_in_file(bytes, size, pool.device, pool.access);
  *pointer = bytes;
  return cudaSuccess;
}

void give_back_in_file(char* begin, std::size_t size) {
  for_each_pool([&](const CUmemPoolHandle_st& pool) {
    if (!pool.file.contains(begin) || pool.is_imported) return;
    madvise(begin, (size + kPage - 1) / kPage * kPage, MADV_REMOVE);
  });
}

}  // namespace hostcuda

using namespace hostcuda;

cudaError_t cudaMemPoolExportToShareableHandle(void* handle, cudaMemPool_t pool,
                                               cudaMemAllocationHandleType type, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (!handle || !is_pool(pool) || flags || type != cudaMemHandleTypePosixFileDescriptor ||
      !pool->file.is_open())
    return fail(cudaErrorInvalidValue);
  const int file = fcntl(pool->file.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (file < 0) return fail(cudaErrorOperatingSystem);
  *static_cast<int*>(handle) = file;
  return cudaSuccess;
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* handle,
                                                 cudaMemAllocationHandleType type, unsigned flags) {
  HOSTCUDA_API_CALL;
  if (!pool || flags || type != cudaMemHandleTypePosixFileDescriptor)
    return fail(cudaErrorInvalidValue);
  cudaMemPool_t made = add_pool(current_device());
  made->is_imported = true;
  if (!made->file.import(static_cast<int>(reinterpret_cast<std::intptr_t>(handle)))) {
    cudaMemPoolDestroy(made);
    return fail(cudaErrorInvalidValue);
  }
  *pool = made;
  return cudaSuccess;
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* pointer) {
  HOSTCUDA_API_CALL;
  const AllocatedRange range = allocation_at(pointer);
  ExportedPointer exported{};
  for_each_pool([&](const CUmemPoolHandle_st& pool) {
    if (range.begin == pointer && !pool.is_imported && pool.file.contains(range.begin))
      exported = {pool.file.number(), pool.file.offset_of(range.begin), range.size};
  });
  if (!data || !exported.size) return fail(cudaErrorInvalidValue);
  std::memset(data, 0, sizeof *data);
  std::memcpy(data, &exported, sizeof exported);
  return cudaSuccess;
}

cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t pool,
                                     cudaMemPoolPtrExportData* data) {
  HOSTCUDA_API_CALL;
  if (!pointer || !data || !is_pool(pool) || !pool->is_imported) return fail(cudaErrorInvalidValue);
  ExportedPointer exported;
  std::memcpy(&exported, data, sizeof exported);
  char* const bytes = pool->file.at(exported.offset, exported.size);
  if (!exported.size || exported.file != pool->file.number() || !bytes ||
      allocation_at(bytes).begin)
    return fail(cudaErrorInvalidValue);
  if (!count_bytes(pool->device, exported.size)) return fail(cudaErrorMemoryAllocation);
  begin_range_in_file(bytes, exported.size, pool->device, pool->access);
  if (runtime_observer) runtime_observer->copied(bytes, nullptr, exported.size);
  *pointer = bytes;
  return cudaSuccess;
}
