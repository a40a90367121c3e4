// hostcuda: CUB's small types: NullType, KeyValuePair, DoubleBuffer, Uninitialized.
#pragma once

namespace cub {

struct NullType {};

template <class Key_, class Value_>
struct KeyValuePair {
  using Key = Key_;
  using Value = Value_;
  Key key;
  Value value;
  bool operator!=(const KeyValuePair& b) const { return value != b.value || key != b.key; }
  bool operator==(const KeyValuePair& b) const { return !(*this != b); }
};

// Two buffers, because a sort may alternate between them. Afterwards d_buffers[selector] has the
// result.
template <class T>
struct DoubleBuffer {
  T* d_buffers[2] = {nullptr, nullptr};
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

template <class T>
struct Uninitialized {
  alignas(T) unsigned char storage[sizeof(T)];
  T& Alias() { return reinterpret_cast<T&>(*this); }
};

}  // namespace cub
