#include "interprocess/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/pages.h"

namespace hostcuda {
namespace {

// The file has only those pages that were written.
constexpr std::size_t kFileSize = std::size_t{64} << 30;

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
  is_imported_ = true;
  file_ = fcntl(file, F_DUPFD_CLOEXEC, 0);
  return file_ >= 0 && map();
}

char* SharedFile::allocate(std::size_t size) {
  if (size > size_) return nullptr;
  const std::size_t rounded = whole_pages(size);
  const auto aligned = [](char* begin) { return begin; };  // all ranges consist of whole pages
  if (char* const block = gaps_.take(rounded, aligned)) return block;
  if (rounded > size_ - used_) return nullptr;
  used_ += rounded;
  return base_ + used_ - rounded;
}

// Only the process that allocated the memory gives its pages back.
void SharedFile::release(char* begin, std::size_t size) {
  if (is_imported_) return;
  madvise(begin, whole_pages(size), MADV_REMOVE);
  gaps_.add(begin, whole_pages(size));
}

char* SharedFile::at(std::size_t offset, std::size_t size) const {
  return offset <= size_ && size <= size_ - offset ? base_ + offset : nullptr;
}

}  // namespace hostcuda
