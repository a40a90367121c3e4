#include <algorithm>
#include <array>
#include <cstdlib>

#include "records/finding.h"
#include "records/json.h"
#include "support/source_line.h"
#include "tracer.h"

namespace hostcuda::trace {
namespace {

Json position(const uint3& v) { return Json::array(std::array{v.x, v.y, v.z}); }

const char* name(Space space) { return space == Space::global ? "global" : "shared"; }

Json kernels(const Tracer& tracer) {
  Json list = Json::array();
  for (const Kernel& kernel : tracer.kernels())
    list.push_back({{"name", kernel.name},
                    {"launches", kernel.launches},
                    {"blocks", kernel.blocks},
                    {"threads", kernel.threads},
                    {"barriers", kernel.barriers},
                    {"grid_barriers", kernel.grid_barriers},
                    {"shuffles", kernel.warp_calls.shuffles.as_json()},
                    {"votes", kernel.warp_calls.votes.as_json()},
                    {"loading_launches", kernel.loading_launches},
                    {"loading_blocks", kernel.loading_blocks},
                    {"loading_threads", kernel.loading_threads},
                    {"most_loads", kernel.most_loads},
                    {"variable_loads", kernel.variable_loads},
                    {"filled_variable_loads", kernel.filled_variable_loads}});
  return list;
}

// A return address is just after the call, so the byte before it belongs to the access.
std::uint64_t code(const SiteKey& key) { return key.code - 1 - load_offset(); }

Json sites(const Tracer& tracer) {
  Json list = Json::array();
  for (const Site& site : tracer.sites().all()) {
    if (!site.executions) continue;  // the site was not counted
    list.push_back({{"kernel", tracer.kernels()[site.key.kernel].name},
                    {"code", code(site.key)},
                    {"memory", name(site.key.space)},
                    {"access", name_of(site.key.kind)},
                    {"bytes", site.key.bytes},
                    {"executions", site.executions},
                    {"requests", site.requests},
                    {"cost", site.cost},
                    {"ideal_cost", site.ideal_cost}});
  }
  return list;
}

Json side(const Tracer& tracer, const Side& side) {
  const SiteKey& key = tracer.sites().all()[side.access.site].key;
  return {{"code", code(key)},
          {"access", name_of(key.kind)},
          {"block", position(side.block)},
          {"thread", position(side.thread)}};
}

Json races(const Tracer& tracer) {
  Json list = Json::array();
  for (const auto& [sites, race] : tracer.races().found()) {
    const SiteKey& key = tracer.sites().all()[sites.first].key;
    list.push_back({{"kernel", tracer.kernels()[key.kernel].name},
                    {"memory", name(key.space)},
                    {"array", name_of(*race.array)},
                    {"offset", race.offset},
                    {"earlier", side(tracer, race.earlier)},
                    {"later", side(tracer, race.later)},
                    {"same_value", race.is_same_value},
                    {"count", race.count}});
  }
  return list;
}

Json divergences(const Tracer& tracer) {
  Json list = Json::array();
  for (const Divergence& found : tracer.divergences()) {
    Json places = Json::array();
    for (const Divergence::Place& place : found.places)
      places.push_back({{"file", place.file},
                        {"line", place.line},
                        {"threads", place.threads},
                        {"example", position(place.example)}});
    list.push_back({{"kernel", tracer.kernels()[found.kernel].name},
                    {"block", position(found.block)},
                    {"places", places}});
  }
  return list;
}

// Gives the addresses of the first request, relative to the 128-byte line that contains the lowest
// address. A lane that does not take part has null instead of an address.
Json accesses(const Tracer& tracer, const BlockPicture::Block& block) {
  Json list = Json::array();
  for (const auto& [place, seen] : block.seen) {
    const SiteKey& key = tracer.sites().all()[place.site].key;
    const Request& first = seen.first;
    std::uint64_t lowest = ~std::uint64_t{0};
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (first.active >> lane & 1) lowest = std::min(lowest, first.address[lane]);
    lowest -= lowest % (kBanks * kWordBytes);
    Json offsets = Json::array();
    for (unsigned lane = 0; lane < kLanes; ++lane)
      offsets.push_back(first.active >> lane & 1 ? Json(first.address[lane] - lowest) : Json());
    const Cost cost =
        key.space == Space::global ? sectors(first, key.bytes) : wavefronts(first, key.bytes);
    list.push_back({{"code", code(key)},
                    {"memory", name(key.space)},
                    {"access", name_of(key.kind)},
                    {"bytes", key.bytes},
                    {"phase", place.phase},
                    {"warp", place.warp},
                    {"executions", Json::array(seen.executions)},
                    {"requests", seen.requests},
                    {"offsets", offsets},
                    {"cost", cost.actual},
                    {"ideal_cost", cost.ideal}});
  }
  return list;
}

Json blocks(const Tracer& tracer) {
  Json list = Json::array();
  for (const auto& [kernel, block] : tracer.picture()->blocks())
    list.push_back({{"kernel", tracer.kernels()[kernel].name},
                    {"dimensions", position(block.dimensions)},
                    {"phases", block.phases},
                    {"barriers", Json::array(block.barriers)},
                    {"accesses", accesses(tracer, block)}});
  return list;
}

Json findings() {
  Json list = Json::array();
  for (const Finding& finding : hostcuda::findings()) {
    Json one = {{"kind", finding.kind}, {"what", finding.what}};
    if (!finding.kernel.empty()) one.add("kernel", finding.kernel);
    if (!finding.launched_at.empty()) one.add("launched_at", finding.launched_at);
    if (finding.in_block) one.add("block", position(finding.block));
    if (finding.in_thread) one.add("thread", position(finding.thread));
    if (const std::size_t colon = finding.place.rfind(':'); colon != std::string::npos) {
      one.add("file", finding.place.substr(0, colon));
      one.add("line", std::atoi(finding.place.c_str() + colon + 1));
      one.add("statement", statement_at(finding.place));
    }
    if (!finding.array.empty()) one.add("array", finding.array);
    if (finding.has_index) one.add("index", finding.index);
    one.add("details", Json::array(finding.details));
    one.add("advice", finding.advice);
    one.add("count", finding.count);
    list.push_back(one);
  }
  return list;
}

// `waits` counts the calls in which host code waits for a stream, an event or a device.
// `bytes_to_host` is the number of bytes from which host code may learn results of kernels. It
// counts copies to host memory from memory to which kernels can write (device, managed or pinned
// memory, and __device__ variables), loads by host code from such memory, and kernels' mistaken
// stores to the host's own memory.
Json host(const Tracer& tracer) {
  return {{"waits", tracer.host_waits()},
          {"bytes_to_host", tracer.bytes_to_host()},
          {"streams_with_kernels", tracer.overlap().streams()},
          {"streams_at_once", tracer.overlap().at_once()}};
}

}  // namespace

std::string record_of(const Tracer& tracer) {
  Json record = {{"kernels", kernels(tracer)}, {"sites", sites(tracer)},
                 {"races", races(tracer)},     {"barrier_divergences", divergences(tracer)},
                 {"findings", findings()},     {"host", host(tracer)}};
  if (tracer.picture()) record.add("blocks", blocks(tracer));
  return record.text() + "\n";
}

}  // namespace hostcuda::trace
