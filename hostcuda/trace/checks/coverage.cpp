#include "checks/coverage.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "checks/kernel_checks.h"

namespace hostcuda::trace {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

bool is_of_kernel(std::uint8_t writer) { return writer == kKernel; }

std::uint64_t volume(const dim3& d) { return std::uint64_t{d.x} * d.y * d.z; }

// The unwritten bytes within the part of an array that is copied.
struct Gaps {
  std::size_t first = 0, end = 0;  // the longest gap
  std::size_t total = 0;
  std::size_t shortest = SIZE_MAX;
};

Gaps gaps_in(const Array& array, std::size_t offset, std::size_t size) {
  Gaps gaps{offset, offset};
  const std::uint8_t* const begin = array.writers.get();
  const std::uint8_t* const end = begin + offset + size;
  for (const std::uint8_t* at = begin + offset; at != end;) {
    const std::uint8_t* first = std::find(at, end, kNobody);
    at = std::find_if(first, end, [](std::uint8_t writer) { return writer != kNobody; });
    const auto length = static_cast<std::size_t>(at - first);
    if (length == 0) continue;
    gaps.total += length;
    gaps.shortest = std::min(gaps.shortest, length);
    if (length > gaps.end - gaps.first)
      gaps = {static_cast<std::size_t>(first - begin), static_cast<std::size_t>(at - begin),
              gaps.total, gaps.shortest};
  }
  return gaps;
}

// True if the launch read elements after this byte. Then its threads loop over all elements, and
// the number of threads does not show which elements the launch covers.
bool was_read_by(const Array& array, std::size_t from, std::uint32_t launch, const Epochs& epochs) {
  for (std::size_t word = from / kWordBytes; word < array.full_size / kWordBytes; ++word)
    for (const Access& read : array.cells[word].reads)
      if (read.epoch && epochs.is_known(read.epoch) && epochs[read.epoch].operation == launch)
        return true;
  return false;
}

// The shape of the launch shows whether there are too few threads or whether the index is wrong.
std::string advice_about(const Array& array, const OperationRecord& launch,
                         std::uint64_t elements) {
  const std::uint64_t threads = volume(launch.grid) * volume(launch.block);
  if (threads < elements)
    return "round the number of blocks up: (n + threads - 1) / threads, with if (i < n) in the "
           "kernel";
  const std::string enough = "the launch has enough threads (" + number(threads) + " for " +
                             number(elements) + " elements), so look at the index: ";
  if (!std::strcmp(array.allocated_by, "cudaMallocPitch"))
    return enough + "row y begins at (char*)pointer + y * pitch";
  if (launch.grid.y * launch.grid.z * launch.block.y * launch.block.z == 1)
    return enough + "it is usually blockIdx.x * blockDim.x + threadIdx.x";
  return enough + "are x and y swapped in the number of blocks, or width and height in the index?";
}

}  // namespace

std::optional<Finding> missing_part(const Array& array, std::size_t offset, std::size_t size,
                                    const Epochs& epochs) {
  if (array.knows_missing_part || array.kind != MemoryKind::device) return std::nullopt;
  Finding finding;
  finding.array = name_of(array);
  const bool was_launched = array.element;
  const unsigned element = was_launched ? array.element : 1;
  const Gaps gaps = gaps_in(array, offset, size);
  const std::size_t gap = gaps.first, gap_end = gaps.end;
  const std::uint64_t elements = array.full_size / element;
  // A shorter gap may be padding in a struct or at the end of a row, unless it is all that is
  // copied.
  constexpr std::size_t kLeastGap = 8;
  const bool is_large = (size && gap_end - gap == size) ||
                        (gap_end - gap >= kLeastGap && (gap_end - gap) * 8 >= size);
  if (is_large || (gap_end - gap >= kLeastGap && gap_end == offset + size)) {
    finding.kind = was_launched ? "partly covered" : "uninitialised";
    finding.what = was_launched
                       ? "the launch covered only part of " + finding.array +
                             ": no thread wrote elements " + number(gap / element) + " to " +
                             number((gap_end - 1) / element) + ", which are copied back"
                       : number(gap_end - gap) + " bytes of " + finding.array +
                             " are copied to the host but were never written";
  } else if (was_launched && gaps.total > size / 4 && gaps.shortest >= kLeastGap &&
             volume(epochs.operation(array.last_launch).grid) *
                     volume(epochs.operation(array.last_launch).block) >=
                 elements) {
    // The gaps are short and many although there are enough threads. So several threads wrote the
    // same element, or some threads wrote no element.
    finding.kind = "partly covered";
    finding.what = "the launch covered only part of " + finding.array + ": no thread wrote " +
                   number(gaps.total / element) + " of its " + number(elements) +
                   " elements, for example " + number(gap / element) + " to " +
                   number((gap_end - 1) / element) + ", which are copied back";
  } else if (was_launched && gap == gap_end) {
    // The grid size was probably rounded down if each thread wrote one element and the number of
    // remaining elements is smaller than a block.
    const OperationRecord& launch = epochs.operation(array.last_launch);
    const std::uint64_t threads = volume(launch.grid) * volume(launch.block);
    const std::uint8_t* first = array.writers.get();
    const std::uint8_t* end = first + array.full_size;
    const auto written =
        static_cast<std::uint64_t>(std::find_if_not(first, end, is_of_kernel) - first);
    const bool is_prefix = std::find(first + written, end, kKernel) == end;
    if (!is_prefix || written != threads * element || threads >= elements ||
        elements - threads >= volume(launch.block) ||
        was_read_by(array, written, array.last_launch, epochs))
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
    finding.advice = advice_about(array, launch, elements);
  } else {
    finding.advice = "fill the array before the copy, or copy only the part that was written";
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
                      " bytes of " + name_of(array) + " were copied back, one byte for each " +
                      number(array.element) + "-byte element",
                  "multiply the number of elements by sizeof");
  finding.place = array.copy_back.text();
  describe(finding, array, array.element);
  return finding;
}

}  // namespace hostcuda::trace
