// The OpenMP threads of a call. Private to the library.
#pragma once

namespace nbody::library {

constexpr int kMostThreads = 4096;  // with a few tens of thousands, libgomp overflows its stack

// Limits the number of threads in the OpenMP teams of this thread for the duration of a call. If a
// process was forked after a call, the limit is one thread: libgomp would wait forever for the
// threads of an earlier team, because they exist only in the parent.
class Threads {
 public:
  explicit Threads(int most);  // 0: no limit
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace nbody::library
