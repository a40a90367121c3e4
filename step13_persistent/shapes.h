// Chooses the shape of this step's launches: the number of bodies per group and of warps per block.
#pragma once

#include <cmath>

#include "nbody/shape.h"

namespace {

struct Shape {
  int group, warps;
  void (*kernel)(float4*, float4*, int, int, int, float, float);
};

inline Shape shape_for(int systems, int n, const std::vector<Shape>& shapes) {
  // An SM does 128 / 16 interactions per cycle; a group takes about 1400 cycles to start and end.
  return nbody::least_work(systems, n, shapes, [&](const Shape& shape) -> nbody::Cost {
    return {.blocks = systems * std::ceil(1.0 * n / shape.group),
            .slots = 16.0 * shape.group * n + 128 * 1400.0};
  });
}

}  // namespace
