#include "checks/absences.h"

#include <algorithm>
#include <bit>
#include <set>
#include <string>

#include "cuda_runtime.h"
#include "execution/report.h"
#include "records/finding.h"
#include "support/source_line.h"

namespace hostcuda::trace {
namespace {

const std::string& line_of(std::uint32_t site, const Sites& sites) {
  static auto* known = new std::map<std::uint64_t, std::string>;
  const std::uint64_t code = sites.all()[site].key.code;
  const auto [line, is_new] = known->try_emplace(code);
  if (is_new) line->second = outermost_line(reinterpret_cast<const void*>(code));
  return line->second;
}

unsigned finished_lanes(const BlockState& block, unsigned warp) {
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < kLanes && warp * kLanes + lane < block.count(); ++lane)
    if (block.thread(warp * kLanes + lane).status == Status::finished) lanes |= 1u << lane;
  return lanes;
}

}  // namespace

void Absences::warp_met(const BlockState& block, unsigned warp, unsigned lanes,
                        const WarpLog& log) {
  const Thread& first =
      block.thread(warp * kLanes + static_cast<unsigned>(std::countr_zero(lanes)));
  unsigned& met_here = met_at(first, warp);
  const unsigned met = met_here, mask = first.request->mask;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    const Thread& thread = block.thread(warp * kLanes + lane);
    const bool is_here = thread.line == first.line && thread.file == first.file;
    (is_here ? met_here : met_at(thread, warp)) |= 1u << lane;
  }
  if (met & lanes || (mask & ~lanes) == 0) return;
  const unsigned absent = mask & ~lanes & ~met & finished_lanes(block, warp);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(absent >> lane & 1)) continue;
    const auto site = log.last_site(lane);
    if (!site) continue;
    Suspect& suspect =
        suspects_.emplace_back(Suspect{warp, lanes, lane, *site, first.file, first.line, {}});
    for (unsigned i = 0; i < kLanes; ++i) suspect.sizes[i] = log.size_of(i);
    return;
  }
}

// Compares lines, because the compiler may have made several copies of the code of a line.
bool Absences::went_past(const Suspect& suspect, const WarpLog& log, const Sites& sites) {
  std::set<std::uint32_t> before, after;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(suspect.lanes >> lane & 1)) continue;
    log.add_sites(lane, 0, suspect.sizes[lane], before);
    log.add_sites(lane, suspect.sizes[lane], log.size_of(lane), after);
  }
  if (before.contains(suspect.site)) return false;
  const auto is_there = [&](std::uint32_t site) {
    return line_of(site, sites) == line_of(suspect.site, sites);
  };
  return !line_of(suspect.site, sites).empty() && std::ranges::any_of(after, is_there) &&
         std::ranges::none_of(before, is_there);
}

void Absences::settle(const BlockState& block, unsigned warp, const WarpLog& log,
                      const Sites& sites) {
  static auto* reported = new std::set<std::string>;
  for (const Suspect& one : suspects_) {
    if (one.warp != warp || !went_past(one, log, sites)) continue;
    const std::string place = std::string(one.file) + ":" + std::to_string(one.line);
    if (!reported->insert(place).second) continue;
    const auto index = [&](unsigned lane) { return block.thread(warp * kLanes + lane).index; };
    Finding finding("absent lane",
                    std::string("kernel ") + block.launch().site.kernel +
                        ": lanes wait in a warp function for thread " + text_of(index(one.lane)) +
                        ", whose lane is in their mask, but this thread returns without the call "
                        "(allowed since sm_70, usually a mistake)",
                    "make all lanes of the mask or of the tile reach the call");
    name_block(finding, block);
    finding.place = place;
    finding.in_thread = true;
    finding.thread = index(static_cast<unsigned>(std::countr_zero(one.lanes)));
    finding.details.push_back("thread " + text_of(index(one.lane)) + " goes past the call, to " +
                              line_of(one.site, sites));
    report(std::move(finding));
  }
  std::erase_if(suspects_, [&](const Suspect& one) { return one.warp == warp; });
}

}  // namespace hostcuda::trace
