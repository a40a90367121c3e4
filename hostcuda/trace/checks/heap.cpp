#include "checks/heap.h"

#include <algorithm>
#include <string>
#include <utility>

#include "checks/kernel_checks.h"
#include "execution/block.h"
#include "runtime/device.h"

namespace hostcuda::trace {

void Heap::report_release(const char* kind, const std::string& what, const Array* array,
                          const char* advice, const void* return_address) {
  Finding*& known = known_[{kind, return_address}];
  if (known) {
    ++known->count;
    return;
  }
  Finding finding(kind, what, advice);
  finding.place = CodePlace{return_address}.text();
  if (running_block) fill_in_culprit(finding);
  if (array) describe(finding, *array);
  known = &report(std::move(finding));
}

bool Heap::serves(const void* return_address) {
  const auto [known, is_new] = is_own_.try_emplace(return_address);
  if (is_new) {
    const char* const libraries[] = {"/include/c++/", "/include/hostcuda/", "/include/thrust/",
                                     "/include/cub/"};
    known->second = std::none_of(
        std::begin(libraries), std::end(libraries),
        [&](const char* library) { return is_code_of_header(return_address, library); });
  }
  return known->second;
}

void* Heap::allocate(std::size_t size, const void* return_address) {
  if (size > kernel_heap_size() - std::min(used_, kernel_heap_size())) return nullptr;
  char* begin = arrays_.provide_small(std::max<std::size_t>(size, 1), kRoom);
  if (!begin) return nullptr;
  Array& array = arrays_.add(begin, size);
  array.of_heap = true;
  array.device = running_block->launch().device;
  array.allocated = {return_address};
  used_ += size;
  return begin;
}

bool Heap::release(const void* pointer, const void* return_address) {
  const auto* address = static_cast<const char*>(pointer);
  if (!arrays_.provided(address)) return false;
  const char* const who = running_block ? "a kernel" : "host code";
  Array* array = arrays_.beginning_at(address);
  if (!array) array = arrays_.nearest(address);
  if (!array || !array->of_heap) {
    report_release("bad free", std::string(who) + " frees memory allocated by the API", array,
                   "if cudaMalloc allocated it, free it with cudaFree, in host code",
                   return_address);
  } else if (!running_block) {
    report_release("bad free", "host code frees memory that a kernel allocated", array,
                   "free it in a kernel: the host cannot access that heap", return_address);
  } else if (array->is_freed) {
    report_release("double free", "a kernel frees memory that was freed already", array,
                   "free it once, by one thread, then set the pointer to null", return_address);
  } else if (array->begin != address) {
    report_release("bad free", "a kernel frees an address inside an allocation", array,
                   "pass the pointer returned by malloc or new", return_address);
  } else {
    used_ -= array->full_size;
    array->forget({return_address});
  }
  return true;
}

}  // namespace hostcuda::trace
