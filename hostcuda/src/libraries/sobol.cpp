// The direction vectors of Sobol sequences, for cuRAND's quasi-random numbers.
#include "hostcuda/random_numbers/sobol.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "support/fault.h"

namespace hostcuda::sobol {
namespace {

// A primitive polynomial of degree s, whose inner coefficients are the bits of a, and the initial
// numbers m_1 to m_s. They are those of dimensions 2 to 53 in the file new-joe-kuo-6 of S. Joe and
// F. Y. Kuo, Constructing Sobol sequences with better two-dimensional projections, SIAM Journal on
// Scientific Computing 30 (2008), https://web.maths.unsw.edu.au/~fkuo/sobol/.
struct Dimension {
  unsigned s, a;
  unsigned char m[8];
};
constexpr Dimension kDimension[] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
    {7, 50, {1, 3, 1, 3, 5, 53, 69}},
    {7, 55, {1, 1, 5, 5, 23, 33, 13}},
    {7, 56, {1, 1, 7, 7, 1, 61, 123}},
    {7, 59, {1, 1, 7, 9, 13, 61, 49}},
    {7, 62, {1, 3, 3, 5, 3, 55, 33}},
    {8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
    {8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
    {8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
    {8, 38, {1, 3, 1, 11, 27, 43, 71, 9}},
    {8, 47, {1, 1, 7, 15, 21, 11, 81, 45}},
    {8, 49, {1, 3, 7, 3, 25, 31, 65, 79}},
    {8, 50, {1, 3, 1, 1, 19, 11, 3, 205}},
    {8, 52, {1, 1, 5, 9, 19, 21, 29, 157}},
    {8, 56, {1, 3, 7, 11, 1, 33, 89, 185}},
    {8, 67, {1, 3, 3, 3, 15, 9, 79, 71}},
    {8, 70, {1, 3, 7, 11, 15, 39, 119, 27}},
    {8, 84, {1, 1, 3, 1, 11, 31, 97, 225}},
    {8, 97, {1, 1, 1, 3, 23, 43, 57, 177}},
    {8, 103, {1, 3, 7, 7, 17, 17, 37, 71}},
    {8, 115, {1, 3, 1, 5, 27, 63, 123, 213}},
    {8, 122, {1, 1, 3, 5, 11, 43, 53, 133}},
};
static_assert(sizeof kDimension / sizeof *kDimension + 1 == kDimensions);

// Writes the vectors of dimension d, which begin with the most significant bit.
template <class Word>
void write_vectors(unsigned d, Word* vectors) {
  constexpr unsigned kBits = 8 * sizeof(Word);
  Word m[kBits];
  for (unsigned i = 0; i < kBits; ++i) {
    if (d == 0) {
      m[i] = 1;
    } else if (const Dimension& of = kDimension[d - 1]; i < of.s) {
      m[i] = of.m[i];
    } else {
      m[i] = m[i - of.s] ^ m[i - of.s] << of.s;
      for (unsigned k = 1; k < of.s; ++k)
        if (of.a >> (of.s - 1 - k) & 1) m[i] ^= m[i - k] << k;
    }
    vectors[i] = m[i] << (kBits - 1 - i);
  }
}

const char* table_ends[2];

bool name_table(const Fault& fault, char* text, std::size_t size) {
  for (const char* end : table_ends)
    if (end && fault.address >= end && fault.address < end + getpagesize()) {
      std::snprintf(text, size, "hostcuda has direction vectors of %u dimensions only",
                    kDimensions);
      return true;
    }
  return false;
}

// An inaccessible page follows the table, because cuRAND has tables for 20,000 dimensions, and a
// program that reads more than this one must not get other numbers.
template <class Word>
const Word* make_table(const char*& end) {
  constexpr unsigned kBits = 8 * sizeof(Word);
  const std::size_t page = static_cast<std::size_t>(getpagesize());
  const std::size_t bytes = kDimensions * kBits * sizeof(Word);
  const std::size_t pages = (bytes + page - 1) / page * page;
  void* memory =
      mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  end = static_cast<char*>(memory) + pages;
  mprotect(static_cast<char*>(memory) + pages, page, PROT_NONE);
  auto* table = reinterpret_cast<Word*>(static_cast<char*>(memory) + (pages - bytes));
  for (unsigned d = 0; d < kDimensions; ++d) write_vectors(d, table + d * kBits);
  prepare_thread_for_faults();
  name_fault_causes_with(name_table);
  return table;
}

}  // namespace

const unsigned* vectors32() {
  static const unsigned* const table = make_table<unsigned>(table_ends[0]);
  return table;
}

const unsigned long long* vectors64() {
  static const unsigned long long* const table = make_table<unsigned long long>(table_ends[1]);
  return table;
}

}  // namespace hostcuda::sobol
