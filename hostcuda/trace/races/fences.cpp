#include "races/fences.h"

#include <algorithm>

namespace hostcuda::trace {
namespace {

void join(Seen& seen, const Seen& other) {
  seen.barriers = std::max(seen.barriers, other.barriers);
  for (const auto& [thread, fences] : other.fences)
    seen.fences[thread] = std::max(seen.fences[thread], fences);
}

bool includes(const SeenBlocks* seen, const Epoch& earlier, std::uint16_t thread) {
  if (!seen) return false;
  const auto block = seen->find(earlier.block);
  if (block == seen->end()) return false;
  if (earlier.barriers < block->second.barriers) return true;
  const auto fences = block->second.fences.find(thread);
  return fences != block->second.fences.end() && earlier.fences < fences->second;
}

}  // namespace

Fences::Shared Fences::joined(const Shared& a, const Shared& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto both = std::make_shared<SeenBlocks>(*a);
  for (const auto& [block, seen] : *b) join((*both)[block], seen);
  return both;
}

void Fences::begin_grid() {
  if (!any_) return;
  any_ = false;
  blocks_.clear();
  released_.clear();
  released_in_block_.clear();
}

std::uint32_t Fences::count(std::uint32_t block, std::uint16_t thread) const {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return 0;
  const auto known = found->second.threads.find(thread);
  return known == found->second.threads.end() ? 0 : known->second.fences;
}

void Fences::fence(const Epoch& now, std::uint16_t thread, bool of_block) {
  any_ = true;
  OfBlock& block = blocks_[now.block];
  OfThread& own = block.threads[thread];
  ++own.fences;
  auto seen = std::make_shared<SeenBlocks>();
  Seen& here = (*seen)[now.block];
  here.barriers = now.barriers;
  here.fences[thread] = own.fences;
  const Shared all = joined(joined(own.acquired, block.acquired), seen);
  own.released_in_block = of_block ? all : nullptr;
  if (of_block) return;
  own.released = all;
  own.has_written = false;
}

void Fences::wrote(std::uint32_t block, std::uint16_t thread) {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return;
  found->second.threads[thread].has_written = true;
}

void Fences::released_at(std::uint64_t address, std::uint32_t block, std::uint16_t thread) {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return;
  const auto own = found->second.threads.find(thread);
  const Shared& mine = own == found->second.threads.end() ? nullptr : own->second.released;
  if (const Shared all = joined(mine, found->second.released)) {
    Shared& there = released_[address];
    there = joined(there, all);
  }
  if (own != found->second.threads.end() && own->second.released_in_block) {
    Shared& there = released_in_block_[{address, block}];
    there = joined(there, own->second.released_in_block);
  }
}

void Fences::acquired_at(std::uint64_t address, std::uint32_t block, std::uint16_t thread) {
  const auto acquire = [&](const Shared& there) {
    OfThread& own = blocks_[block].threads[thread];
    own.acquired = joined(own.acquired, there);
  };
  if (const auto there = released_.find(address); there != released_.end()) acquire(there->second);
  if (released_in_block_.empty()) return;
  const auto here = released_in_block_.find({address, block});
  if (here != released_in_block_.end()) acquire(here->second);
}

// After a barrier, everything that one thread released or acquired before the barrier counts as
// released or acquired by all threads of the block.
void Fences::barrier(std::uint32_t number, std::uint32_t barriers_before) {
  const auto found = blocks_.find(number);
  if (found == blocks_.end()) return;
  OfBlock& block = found->second;
  bool all_fenced = block.knows_writers;
  for (auto& [thread, own] : block.threads) {
    block.acquired = joined(block.acquired, own.acquired);
    block.released = joined(block.released, own.released);
    all_fenced &= !own.has_written;
  }
  if (all_fenced && block.released) {
    auto whole = std::make_shared<SeenBlocks>(*block.released);
    (*whole)[number] = {barriers_before + 1, {}};
    block.released = whole;
  }
  for (auto& [thread, own] : block.threads) {
    own.has_written = false;
    own.acquired = own.released = own.released_in_block = nullptr;
  }
  block.knows_writers = true;
}

bool Fences::orders(const Epoch& earlier, std::uint16_t earlier_thread, std::uint32_t block,
                    std::uint16_t thread) const {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return false;
  if (includes(found->second.acquired.get(), earlier, earlier_thread)) return true;
  const auto own = found->second.threads.find(thread);
  return own != found->second.threads.end() &&
         includes(own->second.acquired.get(), earlier, earlier_thread);
}

}  // namespace hostcuda::trace
