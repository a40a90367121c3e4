// hostcuda: asynchronous copies from global to shared memory (cp.async, __pipeline_memcpy_async,
// cuda::pipeline). A copy takes place when its thread waits for it. No GPU copies later than that,
// so a missing wait shows in the result.
#pragma once

#include <cstdint>

#include "../device_functions.h"

namespace hostcuda {
namespace async_copies {

struct Copy {
  char* to;
  const char* from;
  unsigned bytes, from_bytes;  // after from_bytes bytes, the copy writes zeros
};

void add(const Copy& copy);
void commit();  // puts the running thread's copies that are in no batch yet into a new batch
// Removes the running thread's oldest copy and stores it in `copy`. Returns false if all its copies
// are in its last `left` batches.
bool next(unsigned left, Copy& copy);

template <class Word>
inline void copy_words(const Copy& copy) {
  for (unsigned at = 0; at < copy.bytes; at += sizeof(Word))
    *reinterpret_cast<Word*>(copy.to + at) =
        at < copy.from_bytes ? *reinterpret_cast<const Word*>(copy.from + at) : Word{};
}
inline void run(const Copy& copy) {
  const auto all_of_them = reinterpret_cast<std::uintptr_t>(copy.to) |
                           reinterpret_cast<std::uintptr_t>(copy.from) | copy.bytes |
                           copy.from_bytes;
  if (all_of_them % 4 == 0)
    copy_words<unsigned>(copy);
  else
    copy_words<unsigned char>(copy);
}

[[gnu::always_inline]] inline void add(void* to, const void* from, std::size_t bytes,
                                       std::size_t from_bytes) {
  add({static_cast<char*>(to), static_cast<const char*>(from), static_cast<unsigned>(bytes),
       static_cast<unsigned>(from_bytes)});
}
// Completes all but the last `left` batches.
inline void wait(unsigned left) {
  Copy copy;
  while (next(left, copy)) run(copy);
}
// Completes everything, including copies that are in no batch yet.
inline void wait_all() {
  commit();
  wait(0);
}

}  // namespace async_copies
}  // namespace hostcuda
