#include "warp_log.h"

namespace hostcuda::trace {

void WarpLog::settle(Sites& sites) {
  size_ = 0;
  requests_.resize(sites.all().size());
  for (unsigned lane = 0; lane < lanes_.size(); ++lane) {
    std::vector<Access>& accesses = lanes_[lane];
    for (const Access& access : accesses) {
      Requests& at_site = requests_[access.site];
      if (at_site.passages == at_site.of_passage.size()) at_site.of_passage.emplace_back();
      Request& request = at_site.of_passage[at_site.passages++];
      request.address[lane] = access.address;
      request.active |= 1u << lane;
    }
    for (const Access& access : accesses) requests_[access.site].passages = 0;
    accesses.clear();
  }
  for (std::uint32_t site = 0; site < requests_.size(); ++site) {
    for (const Request& request : requests_[site].of_passage) sites[site].count(request);
    requests_[site].of_passage.clear();
  }
}

}  // namespace hostcuda::trace
