// hostcuda: cub::DeviceMergeSort, which compares with an operator. Every sort here is stable.
#ifndef HOSTCUDA_CUB_DEVICE_DEVICE_MERGE_SORT_CUH
#define HOSTCUDA_CUB_DEVICE_DEVICE_MERGE_SORT_CUH

#include "../../thrust/sort.h"
#include "../detail/device.cuh"

namespace cub {

struct DeviceMergeSort {
  template <class Keys, class Less>
  static cudaError_t SortKeys(void* temporary, std::size_t& bytes, Keys keys, std::ptrdiff_t count,
                              Less less, cudaStream_t stream = nullptr) {
    return detail::device_call("cub::DeviceMergeSort", temporary, bytes,
                               needed(count, sizeof(detail::value_t<Keys>)), stream,
                               [keys = detail::raw(keys), count, less] {
                                 thrust::sort(thrust::seq, keys, keys + count, less);
                               });
  }
  template <class Keys, class Items, class Less>
  static cudaError_t SortPairs(void* temporary, std::size_t& bytes, Keys keys, Items items,
                               std::ptrdiff_t count, Less less, cudaStream_t stream = nullptr) {
    return detail::device_call(
        "cub::DeviceMergeSort", temporary, bytes,
        needed(count, sizeof(detail::value_t<Keys>) + sizeof(detail::value_t<Items>)), stream,
        [keys = detail::raw(keys), items = detail::raw(items), count, less] {
          thrust::sort_by_key(thrust::seq, keys, keys + count, items, less);
        });
  }
  template <class Keys, class Less>
  static cudaError_t StableSortKeys(void* temporary, std::size_t& bytes, Keys keys,
                                    std::ptrdiff_t count, Less less,
                                    cudaStream_t stream = nullptr) {
    return SortKeys(temporary, bytes, keys, count, less, stream);
  }
  template <class Keys, class Items, class Less>
  static cudaError_t StableSortPairs(void* temporary, std::size_t& bytes, Keys keys, Items items,
                                     std::ptrdiff_t count, Less less,
                                     cudaStream_t stream = nullptr) {
    return SortPairs(temporary, bytes, keys, items, count, less, stream);
  }

 private:
  static std::size_t needed(std::ptrdiff_t count, std::size_t size) {
    return static_cast<std::size_t>(count) * size + detail::kSomeBytes;
  }
};

}  // namespace cub

#endif
