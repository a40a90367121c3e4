// Before the sums, one pass over the bodies of a call examines the values and converts the bodies
// to the layout and the units of the kernels.
#pragma once

#include "library/cuda/mailbox.h"
#include "library/cuda/sums.h"

namespace nbody::library {

// The launches of a call depend on its arguments and on its plan: the units, and which bodies have
// mass.
struct Plan {
  double length = 1, mass = 1, speed = 1;  // units
  int massive = 0;
  bool has_one_mass_tiles = true;  // false: masses differ in every tile of step 12
  friend bool operator==(const Plan&, const Plan&) = default;
};
Plan plan_of(const Facts& facts, double softening);

template <class Real>
struct Pointers {
  std::size_t count;
  const Real *positions, *velocities, *masses;
};

// Examines the values of a call: first the sources, then the targets. A call that expects the same
// plan as an earlier call launches all its kernels before it waits. is_expected() then tells the
// kernels that store results whether to store them.
class Examination {
 public:
  // `blocks`: number of blocks of both passes together.
  Examination(int blocks, double softening, const Plan* expected, cudaStream_t stream);

  struct Report {  // the report of one pass; if `facts` is null, nothing is examined
    Facts* partials = nullptr;
    Facts* facts = nullptr;
    unsigned* arrived = nullptr;
    int first = 0, blocks = 0;
    double softening = 0;
    bool is_expected = false;
    Plan expected = {};
  };
  Report next_pass(int blocks);
  const int* is_expected() const { return &partials_.get()[report_.blocks].as_expected; }
  const Facts& wait() { return mailbox_.wait(stream_); }

 private:
  DeviceArray<Facts> partials_;  // findings of each block, then of all blocks together
  Mailbox mailbox_;  // destroyed first: after an error, it waits for kernels that use `partials_`
  Report report_;
  cudaStream_t stream_;
};

// How a pass divides its bodies: a block takes a tile, then the tile that is `blocks` ahead.
struct Division {
  std::size_t tile = 1024;
  bool notes_masses = false;  // for step 12: also find the mass of each tile
  int tiles(std::size_t count) const { return static_cast<int>((count + tile - 1) / tile); }
  int blocks(std::size_t count) const;
};

// Bodies of a call in the kernels' layout, and the memory that they are in.
template <class Real>
struct Laid {
  DeviceArray<Four<Real>> positions = {}, velocities = {};
  DeviceArray<int> order = {};
  DeviceArray<float> tile_masses = {};  // per tile: the mass of every body, or -1 if they differ
  int n = 0, massive = 0;
  Bodies<Real> all() const { return {n, positions.get(), velocities.get(), order.get()}; }
  Bodies<Real> first(int count) const {
    return {count, positions.get(), velocities.get(), order.get()};
  }
  Bodies<Real> others() const {
    return {n - massive, positions.get() + massive, velocities.get() + massive,
            order.get() + massive};
  }
};

// Both functions below take the centre from which positions are measured; null: the origin.
template <class Real>
void examine(const Pointers<Real>& from, const Real* centre, const Division& division,
             Examination& examination, cudaStream_t stream);
// Converts bodies and puts those with mass first. Also examines the values, unless `examination` is
// null.
template <class To, class From>
Laid<To> lay_out(const Pointers<From>& from, const From* centre, const Division& division,
                 const Plan& plan, bool has_velocities, Examination* examination,
                 cudaStream_t stream);

// The middle of the sources, from which a tree measures float64 positions before it rounds them.
DeviceArray<double> middle_of(const double* positions, int count, cudaStream_t stream);

}  // namespace nbody::library
