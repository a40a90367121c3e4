// hostcuda: cub::BlockLoad and cub::BlockStore, which access the same addresses as the chosen
// algorithm does on a GPU, so that the emulator counts the memory accesses that a GPU would make.
#pragma once

#include "block_exchange.cuh"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

namespace detail {
// Item i of thread t has the index first_item(t) + i * step.
constexpr int first_item(int thread, bool striped, int items) {
  return striped ? thread : thread * items;
}
constexpr int item_step(bool striped, int threads) { return striped ? threads : 1; }
}  // namespace detail

// A thread's items in memory, one after another.
template <class T, int N, class Iterator>
void LoadDirectBlocked(int linear_tid, Iterator from, T (&items)[N]) {
  for (int i = 0; i < N; ++i) items[i] = from[linear_tid * N + i];
}
template <class T, int N, class Iterator>
void StoreDirectBlocked(int linear_tid, Iterator to, T (&items)[N]) {
  for (int i = 0; i < N; ++i) to[linear_tid * N + i] = items[i];
}
// Items that are a block's number of threads apart.
template <int kThreads, class T, int N, class Iterator>
void LoadDirectStriped(int linear_tid, Iterator from, T (&items)[N]) {
  for (int i = 0; i < N; ++i) items[i] = from[linear_tid + i * kThreads];
}
template <int kThreads, class T, int N, class Iterator>
void StoreDirectStriped(int linear_tid, Iterator to, T (&items)[N]) {
  for (int i = 0; i < N; ++i) to[linear_tid + i * kThreads] = items[i];
}

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD,
          BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int = 0>
class BlockLoad {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z, N = ITEMS_PER_THREAD;
  static constexpr bool kTransposes = ALGORITHM >= BLOCK_LOAD_TRANSPOSE;
  static constexpr bool kStriped = kTransposes || ALGORITHM == BLOCK_LOAD_STRIPED;
  using Exchange = BlockExchange<T, BLOCK_DIM_X, N, false, BLOCK_DIM_Y, BLOCK_DIM_Z>;

 public:
  using TempStorage = std::conditional_t<kTransposes, typename Exchange::TempStorage, NullType>;

  BlockLoad() : BlockLoad(detail::private_storage<TempStorage, BlockLoad>()) {}
  explicit BlockLoad(TempStorage& storage) : storage_(storage) {}

  template <class Iterator>
  void Load(Iterator from, T (&items)[N]) {
    Load(from, items, kThreads * N);
  }
  // Loads only the first valid_items items; the other items keep their values.
  template <class Iterator>
  void Load(Iterator from, T (&items)[N], int valid_items) {
    int index = detail::first_item(thread_, kStriped, N);
    for (int i = 0; i < N; ++i, index += detail::item_step(kStriped, kThreads))
      if (index < valid_items) items[i] = from[index];
    if constexpr (kTransposes) Exchange(storage_).StripedToBlocked(items);
  }
  template <class Iterator, class Default>
  void Load(Iterator from, T (&items)[N], int valid_items, Default otherwise) {
    for (T& item : items) item = static_cast<T>(otherwise);
    Load(from, items, valid_items);
  }

 private:
  TempStorage& storage_;
  int thread_ = detail::linear_thread<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>("cub::BlockLoad");
};

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD,
          BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int = 0>
class BlockStore {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z, N = ITEMS_PER_THREAD;
  static constexpr bool kTransposes = ALGORITHM >= BLOCK_STORE_TRANSPOSE;
  static constexpr bool kStriped = kTransposes || ALGORITHM == BLOCK_STORE_STRIPED;
  using Exchange = BlockExchange<T, BLOCK_DIM_X, N, false, BLOCK_DIM_Y, BLOCK_DIM_Z>;

 public:
  using TempStorage = std::conditional_t<kTransposes, typename Exchange::TempStorage, NullType>;

  BlockStore() : BlockStore(detail::private_storage<TempStorage, BlockStore>()) {}
  explicit BlockStore(TempStorage& storage) : storage_(storage) {}

  template <class Iterator>
  void Store(Iterator to, T (&items)[N]) {
    Store(to, items, kThreads * N);
  }
  template <class Iterator>
  void Store(Iterator to, T (&items)[N], int valid_items) {
    T striped[N];
    if constexpr (kTransposes) Exchange(storage_).BlockedToStriped(items, striped);
    int index = detail::first_item(thread_, kStriped, N);
    for (int i = 0; i < N; ++i, index += detail::item_step(kStriped, kThreads))
      if (index < valid_items) to[index] = kTransposes ? striped[i] : items[i];
  }

 private:
  TempStorage& storage_;
  int thread_ = detail::linear_thread<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>("cub::BlockStore");
};

}  // namespace cub
