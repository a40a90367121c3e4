// The galaxy of Hernquist (1993): an exponential disk in a live Hernquist halo. G = 1, and the
// disk's mass and scale length are 1. scenarios/initial_conditions.h gives the formulas and their
// sources.
#pragma once

#include <vector>

namespace nbody::generators {

class DiskHaloModel {
 public:
  static constexpr double kDiskThickness = 0.1;   // z0 of sech^2(z / z0)
  static constexpr double kDiskCut = 10;          // bodies further out are omitted
  static constexpr double kHaloCutInScales = 10;  // in scale lengths of the halo

  struct Parameters {
    double halo_mass;  // mass of the infinite profile; (10/11)^2 of it lies within the cut
    double halo_scale;
    double toomre;  // Toomre's Q at R = 2
  };
  explicit DiskHaloModel(const Parameters& parameters);

  double halo_cut() const { return kHaloCutInScales * parameters_.halo_scale; }
  double halo_mass_within(double r) const;
  static double disk_mass_within(double r);

  // The circular orbit of radius R > 0 in the disk's plane.
  struct Rotation {
    double circular_velocity_squared;
    double angular_frequency_squared;
    double epicyclic_frequency_squared;
  };
  Rotation rotation(double radius) const;

  // The disk's velocities at R: means and dispersions.
  struct DiskVelocities {
    double mean_azimuthal;
    double sigma_radial, sigma_azimuthal, sigma_vertical;
  };
  DiskVelocities disk_velocities(double radius) const;

  // The halo's velocities at r.
  struct HaloVelocities {
    double sigma;
    double escape;
  };
  HaloVelocities halo_velocities(double r) const;

 private:
  double profile_of_sigma_radial(double radius) const;
  void tabulate_halo();

  Parameters parameters_;
  double sigma_radial_scale_ = 0;
  struct Row {
    double log_r, sigma_squared, escape_squared;
  };
  std::vector<Row> halo_;  // evenly spaced in log r
};

}  // namespace nbody::generators
