// Hilbert's curve through the cells of a cube. Each cell shares a face with the cell before it on
// the curve. At every scale, the curve visits all of one eighth of a cube before it enters the next
// eighth. The algorithm is that of J. Skilling (Programming the Hilbert curve, AIP Conference
// Proceedings 707, 2004).
#pragma once

#include "nbody/box.h"

namespace nbody {

using CurveKey = unsigned long long;
constexpr int kCoordinateBits = 21;  // bits per coordinate; a key has three times as many

// Inserts two zero bits before each bit of a number.
__host__ __device__ inline CurveKey spread_bits(unsigned number) {
  CurveKey v = number;
  v = (v | v << 32) & 0x001f00000000ffff;
  v = (v | v << 16) & 0x001f0000ff0000ff;
  v = (v | v << 8) & 0x100f00f00f00f00f;
  v = (v | v << 4) & 0x10c30c30c30c30c3;
  return (v | v << 2) & 0x1249249249249249;
}

// Returns the position along the curve of the cell with these coordinates (from 0).
__host__ __device__ inline CurveKey hilbert_key(unsigned x, unsigned y, unsigned z) {
  // Going from the largest cubes to the smallest, flips the first coordinate within each cube, or
  // swaps it with another coordinate, so that the curve runs through the cube in the standard
  // direction.
  const auto turn = [&x](unsigned& other, unsigned bit) {
    const unsigned within = bit - 1, differs = other & bit ? 0 : (x ^ other) & within;
    x ^= other & bit ? within : differs;
    other ^= differs;
  };
  constexpr unsigned kHighest = 1u << (kCoordinateBits - 1);
  for (unsigned bit = kHighest; bit > 1; bit >>= 1) {
    if (x & bit) x ^= bit - 1;
    turn(y, bit);
    turn(z, bit);
  }
  // At every scale, three bits, one per coordinate, are now the Gray code of the eighth's index
  // along the curve: the codes of consecutive eighths differ in one bit.
  y ^= x;
  z ^= y;
  unsigned flips = 0;
  for (unsigned bit = kHighest; bit > 1; bit >>= 1) flips ^= z & bit ? bit - 1 : 0;
  return spread_bits(x ^ flips) << 2 | spread_bits(y ^ flips) << 1 | spread_bits(z ^ flips);
}

// Returns the key of a position in a cube whose edge is as long as the longest edge of the box. A
// position outside the cube, or a position that is NaN, gets the key of a cell at its surface.
__host__ __device__ inline CurveKey hilbert_key(float3 position, const Box& cube) {
  const float edge = largest(cube.high - cube.low);
  // With -use_fast_math a division in float32 would be inexact, and bodies at the faces of cells
  // would get other keys than on the CPU. In float64 the quotient rounds to the nearest float32.
  const double quotient = (1 << kCoordinateBits) / static_cast<double>(edge);
  const float cells = edge > 0 ? static_cast<float>(quotient) : 0.0f;
  const float3 c = cells * (position - cube.low);
  const auto cell = [](float coordinate) {
    return static_cast<unsigned>(fminf(fmaxf(coordinate, 0.0f), (1 << kCoordinateBits) - 1));
  };
  return hilbert_key(cell(c.x), cell(c.y), cell(c.z));
}

}  // namespace nbody
