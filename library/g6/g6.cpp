// One call of libnbody computes the forces on a block of i-particles by all j-particles that do
// not belong to the block. The forces of the j-particles in the block are added pair by pair,
// because a body must not act on itself. Only the indices show that an i-particle and a j-particle
// are the same body, because the calling program predicts the positions of i-particles with its own
// rounding. Without softening, j-particles in the same place as an i-particle are also added this
// way, because they exert nothing there, and libnbody replaces a softening of 0 by a tiny one.
#include "g6.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <new>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nbody.h"
#include "physics/vector3.h"

namespace {

using nbody::Vector3;

struct Particle {
  int index = 0;
  bool is_set = false;
  double t = 0, mass = 0;
  Vector3 x, v, a2, j6, k18;
};

struct Board {
  bool is_open = false;
  double now = 0;
  std::vector<Particle> particles = {};
  std::vector<std::vector<int>> neighbours = {};  // of each pipe, after g6calc_lasthalf2
};

Board the_board;

template <class... Arguments>
int refuse(const char* format, Arguments... arguments) {
  std::fprintf(stderr, format, arguments...);  // NOLINT(cert-err33-c)
  return -1;
}

// Returns what `action` returns. If there is not enough memory, prints an error and returns -1.
template <class Action>
int with_memory(const char* call, const Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return refuse("%s: there is not enough memory\n", call);
  }
}

// Returns the board if it is open. Otherwise prints an error and returns null.
Board* board_for(const char* call) {
  if (the_board.is_open) return &the_board;
  refuse("%s: the board is not open; call g6_open first\n", call);
  return nullptr;
}

Vector3 vector(const double* from) { return {from[0], from[1], from[2]}; }
void store(const Vector3& from, double* to) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }
bool is_finite(const Vector3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

struct Sources {
  std::vector<Vector3> x, v;
  std::vector<double> mass;
};

Sources predicted(const Board& board, std::size_t count) {
  Sources all{std::vector<Vector3>(count), std::vector<Vector3>(count), std::vector<double>(count)};
  for (std::size_t j = 0; j < count; ++j) {
    const Particle& p = board.particles[j];
    const double h = board.now - p.t;
    all.x[j] = p.x + h * (p.v + h * (p.a2 + h * (p.j6 + 0.75 * h * p.k18)));
    all.v[j] = p.v + h * (2 * p.a2 + h * (3 * p.j6 + 3 * h * p.k18));
    all.mass[j] = p.mass;
  }
  return all;
}

struct Sums {
  Vector3 a, jerk;
  double potential;
};

// Adds one source, with the formulas of nbody.h.
void add_pair(Sums& sums, const Vector3& d, const Vector3& u, double mass, double eps2) {
  const double square = dot(d, d) + eps2;
  if (square == 0) return;  // two bodies in one place, without softening
  const double w = mass / (square * std::sqrt(square));
  sums.a += w * d;
  sums.jerk += w * (u - 3 * dot(d, u) / square * d);
  sums.potential -= w * square;
}

struct Block {
  int nj, ni;
  const int* index;
  const double (*x)[3];
  const double (*v)[3];
  double eps2;
  const double* h2;
};

int compute(const char* call, const Board& board, const Block& block, std::vector<Sums>& sums,
            Sources& all) {
  const auto nj = static_cast<std::size_t>(block.nj), ni = static_cast<std::size_t>(block.ni);
  all = predicted(board, nj);
  std::unordered_map<int, std::size_t> pipes;
  for (std::size_t i = 0; i < ni; ++i) pipes.emplace(block.index[i], i);
  std::set<std::array<double, 3>> touching;  // places in which a source exerts nothing
  if (block.eps2 == 0)
    for (std::size_t i = 0; i < ni; ++i)
      touching.insert({block.x[i][0], block.x[i][1], block.x[i][2]});
  std::vector<double> acting = all.mass;
  std::vector<std::size_t> inside;
  for (std::size_t j = 0; j < nj; ++j)
    if (pipes.count(board.particles[j].index) > 0 ||
        touching.count({all.x[j].x, all.x[j].y, all.x[j].z}) > 0) {
      acting[j] = 0;  // libnbody skips sources without mass
      inside.push_back(j);
    }
  std::vector<Vector3> a(ni), jerk(ni);
  std::vector<double> potential(ni);
  const double softening = std::sqrt(block.eps2);
  int result = nbody_jerk_f64(nj, &all.x[0].x, &all.v[0].x, acting.data(), ni, &block.x[0][0],
                              &block.v[0][0], softening, nullptr, &a[0].x, &jerk[0].x);
  if (result == NBODY_OK)
    result = nbody_potential_f64(nj, &all.x[0].x, acting.data(), ni, &block.x[0][0], softening,
                                 nullptr, potential.data());
  if (result != NBODY_OK) return refuse("%s: %s\n", call, nbody_error_text(result));
  for (std::size_t i = 0; i < ni; ++i) {
    sums.push_back({a[i], jerk[i], potential[i]});
    for (const std::size_t j : inside)
      if (board.particles[j].index != block.index[i])
        add_pair(sums[i], all.x[j] - vector(block.x[i]), all.v[j] - vector(block.v[i]), all.mass[j],
                 block.eps2);
  }
  return 0;
}

// Lists the neighbours of every pipe, and writes the index of its nearest neighbour to `nearest`.
void find_neighbours(Board& board, const Block& block, const Sources& all, int* nearest) {
  board.neighbours.assign(static_cast<std::size_t>(block.ni), {});
  for (std::size_t i = 0; i < board.neighbours.size(); ++i) {
    double least = HUGE_VAL;
    nearest[i] = -1;
    for (std::size_t j = 0; j < all.x.size(); ++j) {
      const int index = board.particles[j].index;
      const Vector3 d = all.x[j] - vector(block.x[i]);
      const double square = dot(d, d);
      if (index == block.index[i]) continue;
      if (square < block.h2[i]) board.neighbours[i].push_back(index);
      if (square < least) least = square, nearest[i] = index;
    }
  }
}

int last_half(const char* call, const Block& block, double acc[][3], double jerk[][3], double* pot,
              int* nearest) {
  Board* const board = board_for(call);
  if (board == nullptr) return -1;
  const int stored = static_cast<int>(board->particles.size());
  if (block.nj < 1 || block.nj > stored)
    return refuse("%s: nj %d is not allowed; use 1 to %d, the number of j-particles on the board\n",
                  call, block.nj, stored);
  if (block.ni < 1 || block.ni > G6_PIPES)
    return refuse("%s: ni %d is not allowed; use 1 to %d\n", call, block.ni, G6_PIPES);
  if (!(block.eps2 >= 0 && std::isfinite(block.eps2)))
    return refuse("%s: eps2 %g is not allowed; use 0 or more\n", call, block.eps2);
  for (int j = 0; j < block.nj; ++j)
    if (!board->particles[static_cast<std::size_t>(j)].is_set)
      return refuse("%s: address %d has no j-particle; call g6_set_j_particle\n", call, j);
  return with_memory(call, [&] {
    std::vector<Sums> sums;
    Sources all;
    if (const int result = compute(call, *board, block, sums, all)) return result;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      store(sums[i].a, acc[i]);
      store(sums[i].jerk, jerk[i]);
      pot[i] = sums[i].potential;
    }
    if (nearest != nullptr) find_neighbours(*board, block, all, nearest);
    return 0;
  });
}

}  // namespace

int g6_open(int) {
  the_board.is_open = true;
  return 0;
}
int g6_close(int) {
  Board* const board = board_for("g6_close");
  if (board == nullptr) return -1;
  *board = Board{};
  return 0;
}
int g6_reset(int) { return board_for("g6_reset") == nullptr ? -1 : 0; }
int g6_reset_fofpga(int) { return board_for("g6_reset_fofpga") == nullptr ? -1 : 0; }
int g6_initialize_jp_buffer(int, int) {
  return board_for("g6_initialize_jp_buffer") == nullptr ? -1 : 0;
}
int g6_flush_jp_buffer(int) { return board_for("g6_flush_jp_buffer") == nullptr ? -1 : 0; }
int g6_set_tunit(double) { return 0; }
int g6_set_xunit(double) { return 0; }
int g6_npipes(void) { return G6_PIPES; }

int g6_set_ti(int, double ti) {
  Board* const board = board_for("g6_set_ti");
  if (board == nullptr) return -1;
  if (!std::isfinite(ti)) return refuse("g6_set_ti: time %g is not a finite number\n", ti);
  board->now = ti;
  return 0;
}

int g6_set_j_particle(int, int address, int index, double tj, double, double mass, double k18[3],
                      double j6[3], double a2[3], double v[3], double x[3]) {
  Board* const board = board_for("g6_set_j_particle");
  if (board == nullptr) return -1;
  if (address < 0 || address >= G6_PARTICLES)
    return refuse("g6_set_j_particle: address %d is not allowed; use 0 to %d\n", address,
                  G6_PARTICLES - 1);
  if (!(mass >= 0 && std::isfinite(mass)))
    return refuse("g6_set_j_particle: mass %g is not allowed; use 0 or more\n", mass);
  const Particle particle{index,     true,       tj,         mass,       vector(x),
                          vector(v), vector(a2), vector(j6), vector(k18)};
  for (const Vector3& one : {particle.x, particle.v, particle.a2, particle.j6, particle.k18})
    if (!std::isfinite(tj) || !is_finite(one))
      return refuse("g6_set_j_particle: address %d: a number is not finite\n", address);
  return with_memory("g6_set_j_particle", [&] {
    const auto at = static_cast<std::size_t>(address);
    if (at >= board->particles.size()) board->particles.resize(at + 1);
    board->particles[at] = particle;
    return 0;
  });
}

// Does nothing: the sums need no early start, so g6calc_lasthalf computes all of them.
void g6calc_firsthalf(int, int, int, int[], double[][3], double[][3], double[][3], double[][3],
                      double[], double, double[]) {}

int g6calc_lasthalf(int, int nj, int ni, int index[], double xi[][3], double vi[][3], double eps2,
                    double h2[], double acc[][3], double jerk[][3], double pot[]) {
  return last_half("g6calc_lasthalf", {nj, ni, index, xi, vi, eps2, h2}, acc, jerk, pot, nullptr);
}
int g6calc_lasthalf2(int, int nj, int ni, int index[], double xi[][3], double vi[][3], double eps2,
                     double h2[], double acc[][3], double jerk[][3], double pot[], int nearest[]) {
  return last_half("g6calc_lasthalf2", {nj, ni, index, xi, vi, eps2, h2}, acc, jerk, pot, nearest);
}

int g6_read_neighbour_list(int) { return board_for("g6_read_neighbour_list") == nullptr ? -1 : 0; }
int g6_get_neighbour_list(int, int pipe, int most, int* neighbours, int list[]) {
  const Board* const board = board_for("g6_get_neighbour_list");
  if (board == nullptr) return -1;
  const int pipes = static_cast<int>(board->neighbours.size());
  if (pipe < 0 || pipe >= pipes)
    return refuse(
        "g6_get_neighbour_list: pipe %d is not allowed; the last g6calc_lasthalf2 had "
        "%d\n",
        pipe, pipes);
  const std::vector<int>& found = board->neighbours[static_cast<std::size_t>(pipe)];
  const int count = static_cast<int>(found.size());
  *neighbours = std::max(0, std::min(count, most));
  std::copy_n(found.begin(), *neighbours, list);
  return count > most ? 1 : 0;
}

// The same functions for Fortran.
int g6_open_(int* cluster) { return g6_open(*cluster); }
int g6_close_(int* cluster) { return g6_close(*cluster); }
int g6_reset_(int* cluster) { return g6_reset(*cluster); }
int g6_reset_fofpga_(int* cluster) { return g6_reset_fofpga(*cluster); }
int g6_initialize_jp_buffer_(int* cluster, int* size) {
  return g6_initialize_jp_buffer(*cluster, *size);
}
int g6_flush_jp_buffer_(int* cluster) { return g6_flush_jp_buffer(*cluster); }
int g6_set_tunit_(double* unit) { return g6_set_tunit(*unit); }
int g6_set_xunit_(double* unit) { return g6_set_xunit(*unit); }
int g6_npipes_(void) { return g6_npipes(); }
int g6_set_ti_(int* cluster, double* ti) { return g6_set_ti(*cluster, *ti); }
int g6_set_j_particle_(int* cluster, int* address, int* index, double* tj, double* dtj,
                       double* mass, double k18[3], double j6[3], double a2[3], double v[3],
                       double x[3]) {
  return g6_set_j_particle(*cluster, *address, *index, *tj, *dtj, *mass, k18, j6, a2, v, x);
}
void g6calc_firsthalf_(int* cluster, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                       double aold[][3], double j6old[][3], double phiold[], double* eps2,
                       double h2[]) {
  g6calc_firsthalf(*cluster, *nj, *ni, index, xi, vi, aold, j6old, phiold, *eps2, h2);
}
int g6calc_lasthalf_(int* cluster, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                     double* eps2, double h2[], double acc[][3], double jerk[][3], double pot[]) {
  return g6calc_lasthalf(*cluster, *nj, *ni, index, xi, vi, *eps2, h2, acc, jerk, pot);
}
int g6calc_lasthalf2_(int* cluster, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                      double* eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                      int nearest[]) {
  return g6calc_lasthalf2(*cluster, *nj, *ni, index, xi, vi, *eps2, h2, acc, jerk, pot, nearest);
}
int g6_read_neighbour_list_(int* cluster) { return g6_read_neighbour_list(*cluster); }
int g6_get_neighbour_list_(int* cluster, int* pipe, int* most, int* neighbours, int list[]) {
  return g6_get_neighbour_list(*cluster, *pipe, *most, neighbours, list);
}
