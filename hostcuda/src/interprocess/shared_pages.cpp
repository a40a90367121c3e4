#include "interprocess/shared_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "memory/pages.h"

namespace hostcuda {
namespace {

constexpr std::uint64_t kMagic = 0x6475636f74736f68;  // marks a handle of hostcuda

// Creates a file of this size. It stays open, so that other processes can open it.
int create_file(std::size_t size) {
  const int file = memfd_create("hostcuda", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (ftruncate(file, static_cast<off_t>(size)) == 0) return file;
  close(file);
  return -1;
}

void* map_file(void* at, std::size_t size, int file) {
  void* pages = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), file, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

}  // namespace

PagesHandle share_pages(char* begin, std::size_t bytes) {
  const std::size_t page = page_size();
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = address / page * page;
  const std::size_t size = (address + bytes + page - 1) / page * page - first;
  const int file = create_file(size);
  if (file < 0) return {};
  char* pages = begin - (address - first);
  void* copy = map_file(nullptr, size, file);
  if (copy) {
    std::memcpy(copy, pages, size);
    munmap(copy, size);
  }
  if (!copy || !map_file(pages, size, file)) {
    close(file);
    return {};
  }
  return {kMagic, getpid(), file, size, address - first, bytes};
}

void unshare_pages(char* begin, const PagesHandle& handle) {
  char* pages = begin - handle.offset;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* mapping = mmap(nullptr, handle.size, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  close(handle.file);
  if (mapping == MAP_FAILED) return;  // the pages stay as they are, and nobody else gets them
  const std::size_t past = handle.offset + handle.bytes;
  char* copy = static_cast<char*>(mapping);
  std::memcpy(copy, pages, handle.offset);
  std::memcpy(copy + past, pages + past, handle.size - past);
  mremap(copy, handle.size, handle.size, MREMAP_MAYMOVE | MREMAP_FIXED, pages);
}

char* map_pages(const PagesHandle& handle) {
  if (handle.magic != kMagic || handle.offset + handle.bytes > handle.size) return nullptr;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.process, handle.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat state = {};
  const bool fits =
      fstat(file, &state) == 0 && static_cast<std::uint64_t>(state.st_size) == handle.size;
  void* pages = fits ? map_file(nullptr, handle.size, file) : nullptr;
  close(file);
  return static_cast<char*>(pages);
}

void unmap_pages(char* pages, const PagesHandle& handle) { munmap(pages, handle.size); }

std::shared_ptr<SharedRecordings> SharedRecordings::create() {
  const std::size_t size = page_size();
  const int file = create_file(size);
  if (file < 0) return nullptr;
  void* pages = map_file(nullptr, size, file);
  if (!pages) return close(file), nullptr;
  const PagesHandle handle{kMagic, getpid(), file, size, 0, sizeof(Counts)};
  return std::shared_ptr<SharedRecordings>(new SharedRecordings(handle, static_cast<char*>(pages)));
}

std::shared_ptr<SharedRecordings> SharedRecordings::open(const PagesHandle& handle) {
  if (handle.bytes != sizeof(Counts)) return nullptr;
  char* pages = map_pages(handle);
  if (!pages) return nullptr;
  return std::shared_ptr<SharedRecordings>(new SharedRecordings(handle, pages));
}

SharedRecordings::~SharedRecordings() {
  unmap_pages(pages_, handle_);
  if (handle_.process == getpid()) close(handle_.file);
}

void SharedRecordings::completed(std::uint64_t recording) {
  std::uint64_t before = counts_->completed;
  while (before < recording && !counts_->completed.compare_exchange_weak(before, recording)) {
  }
}

void SharedRecordings::wait_for(std::uint64_t recording) const {
  constexpr useconds_t kMicroseconds = 50;
  while (!is_completed(recording)) usleep(kMicroseconds);
}

}  // namespace hostcuda
