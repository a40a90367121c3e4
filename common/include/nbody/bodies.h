// The exchange format of the project: S independent systems of N bodies each, as an array of
// structs.
//
// Units: G = 1. Lengths, masses and velocities may have any units in which the unit of time is
// sqrt(length^3 / mass). The state is float32; a two-dimensional system has z = 0 and vz = 0.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nbody {

// A float32 body has no padding and takes 28 bytes. Files and the first GPU step use this layout.
template <class Real>
struct BasicBody {
  Real x, y, z;
  Real vx, vy, vz;
  Real mass;
};
using Body = BasicBody<float>;
using BodyF64 = BasicBody<double>;  // for runs with --precision double
static_assert(sizeof(Body) == 7 * sizeof(float), "Body is written to disk as seven floats");

Body rounded(const BodyF64& body);
BodyF64 widened(const Body& body);

// Systems are stored contiguously: body i of system s is bodies[s * bodies_per_system + i].
template <class Real>
struct BasicSystems {
  int count = 0;                        // S
  int bodies_per_system = 0;            // N
  std::vector<BasicBody<Real>> bodies;  // S * N

  BasicSystems() = default;
  BasicSystems(int count, int bodies_per_system)
      : count(count),
        bodies_per_system(bodies_per_system),
        bodies(static_cast<std::size_t>(count) * static_cast<std::size_t>(bodies_per_system)) {}

  std::span<BasicBody<Real>> system(int s) { return {bodies.data() + offset(s), size_of_one()}; }
  std::span<const BasicBody<Real>> system(int s) const {
    return {bodies.data() + offset(s), size_of_one()};
  }

 private:
  std::size_t size_of_one() const { return static_cast<std::size_t>(bodies_per_system); }
  std::size_t offset(int s) const { return static_cast<std::size_t>(s) * size_of_one(); }
};
using Systems = BasicSystems<float>;
using SystemsF64 = BasicSystems<double>;

// Reorders bodies, and restores their original order.
template <class Real>
class BodyOrder {
 public:
  void restore() { move_all(true); }

 protected:
  explicit BodyOrder(BasicSystems<Real>& systems) : systems_(systems) {}
  // Computes the order of a system's bodies by key(body), an int. Bodies with equal keys keep their
  // order. The bodies do not move before move_all().
  template <class Key>
  void sort(int system, const Key& key);
  void move_all(bool back = false);

 private:
  BasicSystems<Real>& systems_;
  std::vector<std::size_t> from_;  // the new body k was body from_[k]; empty if no body was moved
};

// Groups the bodies of every system by mass, so that most tiles of a kernel contain bodies of only
// one mass. A system with more than eight different masses is left unchanged.
class MassOrder : public BodyOrder<float> {
 public:
  explicit MassOrder(Systems& systems);
  static bool is_needed(const Systems& systems);
};

// Moves the massless bodies, which exert no force, behind the others of their system.
template <class Real>
class MassiveFirst : public BodyOrder<Real> {
 public:
  explicit MassiveFirst(BasicSystems<Real>& systems);
  // Counts the bodies with mass in each system. Returns the largest of these counts, at least 1.
  int sources() const { return sources_; }

 private:
  int sources_ = 1;
};

// Returns one mass per tile of `tile` bodies, system after system; -1 marks a tile whose bodies
// differ in mass. Massless bodies fill up the last tile of a system.
std::vector<float> masses_of_tiles(const Systems& systems, int tile);

// unpack() splits bodies into two host arrays, and pack() joins the arrays again. The step defines
// the element types: one struct for x, y, z and mass, and one for the three velocity components.
template <class Positions, class Velocities>
void unpack(std::span<const Body> bodies, Positions& positions, Velocities& velocities) {
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const Body& b = bodies[k];
    positions[k] = {b.x, b.y, b.z, b.mass};
    auto& v = velocities[k];
    v.x = b.vx, v.y = b.vy, v.z = b.vz;
  }
}

template <class Positions, class Velocities>
void pack(const Positions& positions, const Velocities& velocities, std::span<Body> bodies) {
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const auto& [x, y, z, mass] = positions[k];
    const auto& v = velocities[k];
    bodies[k] = {x, y, z, v.x, v.y, v.z, mass};
  }
}

}  // namespace nbody
