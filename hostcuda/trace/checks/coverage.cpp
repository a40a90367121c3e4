#include "checks/coverage.h"

#include <algorithm>

#include "checks/kernel_checks.h"

namespace hostcuda::trace {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

bool is_of_kernel(std::uint8_t writer) { return writer == kKernel; }

std::uint64_t volume(const dim3& d) { return std::uint64_t{d.x} * d.y * d.z; }

// Returns the beginning and the end of the longest run of unwritten bytes between offset and offset
// + size.
std::pair<std::size_t, std::size_t> longest_gap(const Array& array, std::size_t offset,
                                                std::size_t size) {
  std::pair<std::size_t, std::size_t> longest{offset, offset};
  const std::uint8_t* const end = array.writers.get() + offset + size;
  for (const std::uint8_t* at = array.writers.get() + offset; at != end;) {
    const std::uint8_t* first = std::find(at, end, kNobody);
    at = std::find_if(first, end, [](std::uint8_t writer) { return writer != kNobody; });
    if (at - first > static_cast<std::ptrdiff_t>(longest.second - longest.first))
      longest = {static_cast<std::size_t>(first - array.writers.get()),
                 static_cast<std::size_t>(at - array.writers.get())};
  }
  return longest;
}

}  // namespace

std::optional<Finding> missing_part(const Array& array, std::size_t offset, std::size_t size,
                                    const Epochs& epochs) {
  if (array.knows_missing_part || array.kind != MemoryKind::device) return std::nullopt;
  Finding finding;
  finding.array = name_of(array);
  const bool was_launched = array.element;
  const unsigned element = was_launched ? array.element : 1;
  const auto [gap, gap_end] = longest_gap(array, offset, size);
  // A shorter gap may be padding in a struct or at the end of a row.
  constexpr std::size_t kLeastGap = 8;
  const bool is_large = gap_end - gap >= kLeastGap && (gap_end - gap) * 8 >= size;
  if (is_large || (gap_end - gap >= kLeastGap && gap_end == offset + size)) {
    finding.kind = was_launched ? "partly covered" : "uninitialised";
    finding.what = was_launched
                       ? "the launch covered only part of " + finding.array +
                             ": no thread wrote its elements " + number(gap / element) + " to " +
                             number((gap_end - 1) / element) + ", which are copied back"
                       : number(gap_end - gap) + " bytes of " + finding.array +
                             " are copied to the host but were never written";
  } else if (was_launched && gap == gap_end) {
    // If the grid size was rounded down, each thread wrote one element, and fewer elements remain
    // than a block has threads.
    const OperationRecord& launch = epochs.operation(array.last_launch);
    const std::uint64_t threads = volume(launch.grid) * volume(launch.block);
    const std::uint64_t elements = array.full_size / element;
    const std::uint8_t* first = array.writers.get();
    const std::uint8_t* end = first + array.full_size;
    const auto written =
        static_cast<std::uint64_t>(std::find_if_not(first, end, is_of_kernel) - first);
    const bool is_prefix = std::find(first + written, end, kKernel) == end;
    if (!is_prefix || written != threads * element || threads >= elements ||
        elements - threads >= volume(launch.block))
      return std::nullopt;
    finding.kind = "partly covered";
    finding.what = "the launch covered only the first " + number(threads) + " of the " +
                   number(elements) + " elements of " + finding.array;
  } else {
    return std::nullopt;
  }
  finding.details.push_back(description_of(array, element));
  if (was_launched) {
    const OperationRecord& launch = epochs.operation(array.last_launch);
    finding.details.push_back(launch.what + ", launched at " + launch.place.text() + ": " +
                              number(volume(launch.grid)) + " blocks of " +
                              number(volume(launch.block)) + " threads");
    finding.advice =
        "round the number of blocks up: (n + threads - 1) / threads, with if (i < n) in the "
        "kernel";
  } else {
    finding.advice = "fill it, or copy only what was written";
  }
  return finding;
}

std::optional<Finding> bytes_for_elements(const Array& array) {
  if (array.kind != MemoryKind::device || array.copies_back != 1 || array.element < 4)
    return std::nullopt;
  if (array.copied_back * array.element != array.full_size) return std::nullopt;
  const std::uint8_t* first = array.writers.get();
  if (!std::all_of(first, first + array.full_size, is_of_kernel)) return std::nullopt;
  Finding finding("copy too small",
                  "only " + number(array.copied_back) + " of the " + number(array.full_size) +
                      " bytes of " + name_of(array) +
                      " were copied back, as many as it has elements of " + number(array.element),
                  "multiply the number of elements by sizeof");
  finding.place = array.copy_back.text();
  describe(finding, array, array.element);
  return finding;
}

}  // namespace hostcuda::trace
