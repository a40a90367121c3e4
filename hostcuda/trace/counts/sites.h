// The places in the code that access memory, with the counts of each place.
#ifndef HOSTCUDA_TRACE_SITES_H
#define HOSTCUDA_TRACE_SITES_H

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "counts/memory_model.h"

namespace hostcuda::trace {

enum class Space : std::uint8_t { global, shared };
enum class Kind : std::uint8_t { load, store, atomic };

// An instruction as a GPU would execute it. An access that takes several instructions (a struct of
// three floats, for example) has one SiteKey for each `part`.
struct SiteKey {
  std::uint64_t code;  // address of the instrumented access in the code
  std::uint32_t kernel;
  std::uint8_t part;
  std::uint8_t bytes;
  Space space;
  Kind kind;
  auto operator<=>(const SiteKey&) const = default;
};

struct Site {
  SiteKey key;
  std::uint64_t requests = 0;              // memory requests of warps
  std::uint64_t executions = 0;            // executions by threads
  std::uint64_t cost = 0, ideal_cost = 0;  // sectors (global) or wavefronts (shared memory)
  void count(const Request& request);
  // Counts a request in which all lanes in the mask `lanes` access the same aligned address.
  void count_one_address(std::uint32_t lanes);

 private:
  void add(unsigned lanes, const Cost& spent);
};

// Receives every request before it is counted.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void saw(std::uint32_t site, const Request& request) = 0;
};

// The number of loads by each lane of a warp.
using LoadsOfLanes = std::array<std::uint32_t, 32>;

// All sites, numbered in the order in which they were first used.
class Sites {
 public:
  void set_witness(Witness* witness) { witness_ = witness; }
  // Sets the warp that makes all later requests; `loads` counts the loads of its lanes.
  void set_warp(LoadsOfLanes* loads) { loads_ = loads; }
  void count(std::uint32_t number, const Request& request) {
    if (witness_) witness_->saw(number, request);
    sites_[number].count(request);
    count_lanes(sites_[number].key.kind, request.active);
  }
  // Counts a request in which all lanes in the mask `lanes` access this aligned address.
  void count_one_address(std::uint32_t number, std::uint32_t lanes, std::uint64_t address) {
    if (witness_) {
      Request request;
      request.address.fill(address);
      request.active = lanes;
      witness_->saw(number, request);
    }
    sites_[number].count_one_address(lanes);
    count_lanes(sites_[number].key.kind, lanes);
  }
  std::uint32_t number_of(const SiteKey& key);
  Site& operator[](std::uint32_t number) { return sites_[number]; }
  const std::vector<Site>& all() const { return sites_; }

 private:
  void count_lanes(Kind kind, std::uint32_t lanes) {
    if (kind != Kind::load || !loads_) return;
    for (unsigned lane = 0; lane < loads_->size(); ++lane) (*loads_)[lane] += lanes >> lane & 1;
  }

  Witness* witness_ = nullptr;
  LoadsOfLanes* loads_ = nullptr;
  std::vector<Site> sites_;
  std::map<SiteKey, std::uint32_t> numbers_;
  struct Recent {
    SiteKey key{};
    std::uint32_t number = 0;
  };
  std::array<Recent, 1024> recent_{};  // hash table: most accesses come from known sites
};

}  // namespace hostcuda::trace

#endif
