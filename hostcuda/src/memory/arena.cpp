#include "memory/arena.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memory/pages.h"
#include "support/fault.h"
#include "support/poison.h"

namespace hostcuda {

char* Arena::allocate(std::size_t size, bool poison) {
  constexpr std::size_t kAlignment = 256;  // the alignment that cudaMalloc guarantees
  const std::size_t page = page_size();
  if (!base_) {
    prepare_thread_for_faults();
    void* mapping =
        mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return nullptr;
    base_ = static_cast<char*>(mapping);
  }
  const std::size_t padded = (size + kAlignment - 1) / kAlignment * kAlignment;
  const Pages pages{base_ + used_, whole_pages(padded)};
  if (pages.size + page > kSize - used_) return nullptr;
  used_ += pages.size + page;
  char* pointer = pages.begin + pages.size - padded;
  live_[pointer] = pages;
  protect(pages, PROT_READ | PROT_WRITE);
  if (poison) fill_with_poison(pointer, size);
  if (!opened_) protect(pages, PROT_NONE);
  return pointer;
}

void Arena::release(char* pointer) {
  const Pages pages = live_.at(pointer);
  live_.erase(pointer);  // open() skips these pages from now on
  madvise(pages.begin, pages.size, MADV_DONTNEED);
  if (opened_) protect(pages, PROT_NONE);
}

void Arena::open() {
  if (opened_++) return;
  for (const auto& [pointer, pages] : live_) protect(pages, PROT_READ | PROT_WRITE);
}

void Arena::close() {
  if (--opened_) return;
  for (const auto& [pointer, pages] : live_) protect(pages, PROT_NONE);
}

bool Arena::contains(const void* address) const {
  const char* byte = static_cast<const char*>(address);
  return base_ && byte >= base_ && byte < base_ + kSize;
}

void Arena::protect(const Pages& pages, int protection) const {
  if (mprotect(pages.begin, pages.size, protection) == 0) return;
  std::perror("hostcuda: cannot protect device memory");
  std::abort();
}

}  // namespace hostcuda
