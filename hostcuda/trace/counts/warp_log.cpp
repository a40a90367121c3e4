#include "counts/warp_log.h"

#include <algorithm>
#include <cstdint>
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

std::optional<std::uint32_t> WarpLog::last_site(unsigned lane) const {
  if (lanes_[lane].empty()) return std::nullopt;
  const LoggedAccess& last = lanes_[lane].end()[-1];
  return last.is_run() ? lanes_[last.run().lane].begin()[last.run().end - 1].site() : last.site();
}

void WarpLog::add_sites(unsigned lane, std::size_t begin, std::size_t end,
                        std::set<std::uint32_t>& sites) const {
  for (std::size_t i = begin; i < end; ++i) {
    const LoggedAccess& access = lanes_[lane].begin()[i];
    if (!access.is_run()) {
      sites.insert(access.site());
      continue;
    }
    const Run run = access.run();
    for (std::size_t j = run.begin; j < run.end; ++j)
      sites.insert(lanes_[run.lane].begin()[j].site());
  }
}

void LaneLog::give_back() {
  if (begin_) rooms().push_back({begin_, end_});
  begin_ = next_ = end_ = nullptr;
}

// Reads a lane's log from the current position to the end, and replaces each run by its accesses.
class WarpLog::Reader {
 public:
  Reader(const WarpLog& log, unsigned lane)
      : log_(&log), lane_(lane), next_(log.lanes_[lane].begin()), end_(log.lanes_[lane].end()) {
    begin_run();
  }
  unsigned lane() const { return lane_; }
  bool at_end() const { return next_ == end_ && !left_; }
  LoggedAccess operator*() const { return left_ ? *followed_ : *next_; }
  void advance(std::size_t steps = 1) {
    if (left_) {
      followed_ += steps;
      left_ -= steps;
    } else {
      next_ += steps;
    }
    if (!left_) begin_run();
  }
  // Returns the next entry: during a run, an entry of the log that the run refers to; otherwise an
  // entry of this lane's own log.
  const LoggedAccess* followed() const { return left_ ? followed_ : next_; }
  std::size_t left_of_run() const { return left_; }

 private:
  void begin_run() {
    if (next_ == end_ || !next_->is_run()) return;
    const Run run = next_++->run();
    followed_ = log_->lanes_[run.lane].begin() + run.begin;
    left_ = run.end - run.begin;
  }
  const WarpLog* log_;
  unsigned lane_;
  const LoggedAccess *next_, *end_, *followed_ = nullptr;
  std::size_t left_ = 0;
};

// Counts requests as long as all lanes read the same entries of one lane's log. That lane reads its
// own log, and the other lanes are in runs that refer to it. Returns the number of requests.
std::size_t WarpLog::count_runs(std::vector<Reader>& readers, Sites& sites) const {
  const LoggedAccess* const first = readers.front().followed();
  std::size_t steps = SIZE_MAX;
  std::uint32_t lanes = 0;
  for (const Reader& reader : readers) {
    if (reader.followed() != first) return 0;
    if (reader.left_of_run()) steps = std::min(steps, reader.left_of_run());
    lanes |= 1u << reader.lane();
  }
  if (steps == SIZE_MAX) return 0;
  for (std::size_t i = 0; i < steps; ++i)
    sites.count_one_address(first[i].site(), lanes, first[i].address());
  for (Reader& reader : readers) reader.advance(steps);
  return steps;
}

// The lanes of a warp usually make the same accesses in the same order. The k-th accesses of all
// lanes then form one request. Counts these requests until one lane makes a different access.
void WarpLog::count_in_step(std::vector<Reader>& readers, Sites& sites) const {
  while (!readers.empty()) {
    if (!count_runs(readers, sites)) {
      Request request;
      const std::uint32_t site = (*readers.front()).site();
      for (const Reader& reader : readers) {
        const LoggedAccess access = *reader;
        if (access.site() != site) return;
        request.address[reader.lane()] = access.address();
        request.active |= 1u << reader.lane();
      }
      sites.count(site, request);
      for (Reader& reader : readers) reader.advance();
    }
    std::erase_if(readers, [](const Reader& reader) { return reader.at_end(); });
  }
}

void WarpLog::count_all(Sites& sites) {
  size_ = 0;
  std::vector<Reader> readers;
  for (unsigned lane = 0; lane < lanes_.size(); ++lane)
    if (!lanes_[lane].empty()) readers.emplace_back(*this, lane);
  count_in_step(readers, sites);
  requests_.resize(sites.all().size());
  for (const Reader& rest : readers) {
    for (Reader reader = rest; !reader.at_end(); reader.advance()) {
      Requests& at_site = requests_[(*reader).site()];
      if (at_site.passages == at_site.of_passage.size()) at_site.of_passage.emplace_back();
      Request& request = at_site.of_passage[at_site.passages++];
      request.address[rest.lane()] = (*reader).address();
      request.active |= 1u << rest.lane();
    }
    for (Reader reader = rest; !reader.at_end(); reader.advance())
      requests_[(*reader).site()].passages = 0;
  }
  for (LaneLog& log : lanes_) log.give_back();
  for (std::uint32_t site = 0; site < requests_.size(); ++site) {
    for (const Request& request : requests_[site].of_passage) sites.count(site, request);
    requests_[site].of_passage.clear();
  }
}

}  // namespace hostcuda::trace
