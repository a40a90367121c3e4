// hostcuda: cub::DeviceMergeSort, which sorts by a comparison operator. Every sort here is stable.
#pragma once

#include "../../thrust/sort.h"
#include "../detail/device.cuh"

namespace cub {

struct DeviceMergeSort {
  template <class Keys, class Less>
  static cudaError_t SortKeys(void* temporary, std::size_t& bytes, Keys keys, std::ptrdiff_t count,
                              Less less, cudaStream_t stream = nullptr) {
    using Raw = detail::raw_t<Keys>;
    using Key = detail::value_t<Keys>;
    return detail::device_call("cub::DeviceMergeSort", temporary, bytes, needed(count, sizeof(Key)),
                               stream, [it = detail::raw(keys), count, less, temporary] {
                                 thrust::detail::sort_items(count,
                                                            thrust::detail::load_from<Raw>{it},
                                                            thrust::detail::store_to<Raw>{it}, less,
                                                            static_cast<Key*>(temporary));
                               });
  }
  template <class Keys, class Items, class Less>
  static cudaError_t SortPairs(void* temporary, std::size_t& bytes, Keys keys, Items items,
                               std::ptrdiff_t count, Less less, cudaStream_t stream = nullptr) {
    using Item = thrust::detail::keyed<detail::value_t<Keys>, detail::value_t<Items>>;
    return detail::device_call(
        "cub::DeviceMergeSort", temporary, bytes, needed(count, sizeof(Item)), stream,
        [keys = detail::raw(keys), items = detail::raw(items), count, less, temporary] {
          thrust::detail::sort_keyed(keys, count, items, less, static_cast<Item*>(temporary));
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

  // The sorted keys are stored elsewhere; the input stays as it is.
  template <class In, class Out, class Less>
  static cudaError_t SortKeysCopy(void* temporary, std::size_t& bytes, In in, Out out,
                                  std::ptrdiff_t count, Less less, cudaStream_t stream = nullptr) {
    using From = detail::raw_t<In>;
    using To = detail::raw_t<Out>;
    using Key = detail::value_t<In>;
    return detail::device_call(
        "cub::DeviceMergeSort", temporary, bytes, needed(count, sizeof(Key)), stream,
        [from = detail::raw(in), to = detail::raw(out), count, less, temporary] {
          thrust::detail::sort_items(count, thrust::detail::load_from<From>{from},
                                     thrust::detail::store_to<To>{to}, less,
                                     static_cast<Key*>(temporary));
        });
  }

 private:
  static std::size_t needed(std::ptrdiff_t count, std::size_t size) {
    return 2 * static_cast<std::size_t>(count) * size + detail::kSomeBytes;
  }
};

}  // namespace cub
