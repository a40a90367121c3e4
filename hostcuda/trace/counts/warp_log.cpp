#include "counts/warp_log.h"

#include <algorithm>
#include <utility>

namespace hostcuda::trace {
namespace {

struct Room {
  LoggedAccess *begin, *end;
};
std::vector<Room>& rooms() {
  static auto* list = new std::vector<Room>;
  return *list;
}

}  // namespace

void LaneLog::grow() {
  if (!begin_ && !rooms().empty()) {
    begin_ = next_ = rooms().back().begin;
    end_ = rooms().back().end;
    rooms().pop_back();
    return;
  }
  constexpr std::size_t kFirst = 256;
  const auto used = static_cast<std::size_t>(next_ - begin_);
  const std::size_t size = used ? 2 * used : kFirst;
  begin_ = static_cast<LoggedAccess*>(std::realloc(begin_, size * sizeof(LoggedAccess)));
  if (!begin_) std::abort();
  next_ = begin_ + used;
  end_ = begin_ + size;
}

void LaneLog::give_back() {
  if (begin_) rooms().push_back({begin_, end_});
  begin_ = next_ = end_ = nullptr;
}

// The lanes of a warp mostly do the same, one after the other: then the k-th accesses of all lanes
// are one request. Counts these up to where a lane does something else, and returns how many.
std::size_t WarpLog::count_in_step(Sites& sites) const {
  std::array<const LoggedAccess*, 32> begin, end;
  std::array<std::uint32_t, 32> number;
  std::size_t lanes = 0;
  for (unsigned lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].empty()) continue;
    begin[lanes] = lanes_[lane].begin();
    end[lanes] = lanes_[lane].end();
    number[lanes++] = lane;
  }
  for (std::size_t step = 0;; ++step) {
    Request request;
    std::uint32_t site = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
      if (begin[i] + step >= end[i]) continue;
      const LoggedAccess access = begin[i][step];
      if (request.active && access.site() != site) return step;
      site = access.site();
      request.address[number[i]] = access.address();
      request.active |= 1u << number[i];
    }
    if (!request.active) return step;
    sites.count(site, request);
  }
}

void WarpLog::count_all(Sites& sites) {
  size_ = 0;
  const std::size_t counted = count_in_step(sites);
  requests_.resize(sites.all().size());
  for (unsigned lane = 0; lane < lanes_.size(); ++lane) {
    LaneLog& log = lanes_[lane];
    const LoggedAccess* rest =
        log.begin() + std::min(counted, static_cast<std::size_t>(log.end() - log.begin()));
    for (const LoggedAccess* access = rest; access != log.end(); ++access) {
      Requests& at_site = requests_[access->site()];
      if (at_site.passages == at_site.of_passage.size()) at_site.of_passage.emplace_back();
      Request& request = at_site.of_passage[at_site.passages++];
      request.address[lane] = access->address();
      request.active |= 1u << lane;
    }
    for (const LoggedAccess* access = rest; access != log.end(); ++access)
      requests_[access->site()].passages = 0;
    log.give_back();
  }
  for (std::uint32_t site = 0; site < requests_.size(); ++site) {
    for (const Request& request : requests_[site].of_passage) sites.count(site, request);
    requests_[site].of_passage.clear();
  }
}

}  // namespace hostcuda::trace
