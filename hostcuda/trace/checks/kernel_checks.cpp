#include "checks/kernel_checks.h"

#include <regex.h>

#include <algorithm>
#include <cstring>

#include "execution/block.h"

namespace hostcuda::trace {
namespace {

const char* verb(Kind kind) {
  return kind == Kind::load ? "reads" : kind == Kind::store ? "writes" : "updates";
}

std::string counted(std::size_t number, const char* word) {
  return std::to_string(number) + " " + word + (number == 1 ? "" : "s");
}

// Returns the name of the variable whose address the statement passes to an allocating function, or
// "" if no name or more than one fits.
std::string name_in(const std::string& statement) {
  static const regex_t* expression = [] {
    auto* compiled = new regex_t;
    regcomp(
        compiled,
        "(Malloc|HostAlloc)[A-Za-z0-9]*\\([^&;]*&[ ]*([A-Za-z_][A-Za-z0-9_.]*(->[A-Za-z0-9_]+)?)",
        REG_EXTENDED);
    return compiled;
  }();
  regmatch_t match[3];
  if (regexec(expression, statement.c_str(), 3, match, 0) != 0) return "";
  const auto begin = static_cast<std::size_t>(match[2].rm_so);
  const auto end = static_cast<std::size_t>(match[2].rm_eo);
  const bool is_only_one = regexec(expression, statement.c_str() + end, 0, nullptr, 0) != 0;
  return is_only_one ? statement.substr(begin, end - begin) : "";
}

}  // namespace

const char* name_of(Kind kind) {
  return kind == Kind::load ? "load" : kind == Kind::store ? "store" : "atomic";
}

std::string name_of(const Array& array) {
  if (!array.name.empty()) return array.name;
  if (array.space == Space::shared) return "dynamic shared memory";
  const std::string place = array.allocated.text();
  const std::string name = name_in(statement_at(place));
  if (!name.empty()) return name;
  return place.empty() ? "an allocation" : "the allocation of " + place;
}

std::string description_of(const Array& array, unsigned element) {
  if (element > kMaxAccess) element = 1;  // a library made this copy
  std::string text = name_of(array) + ": " + counted(array.full_size, "byte");
  if (element > 1 && array.full_size % element == 0)
    text += " (" + counted(array.full_size / element, "element") + " of " +
            counted(element, "byte") + ")";
  if (array.space == Space::shared) return text + " of shared memory";
  const char* memory = array.kind == MemoryKind::pinned    ? "pinned host memory"
                       : array.kind == MemoryKind::managed ? "managed memory"
                                                           : "device memory";
  text += array.of_program ? ", a __device__ variable" : std::string(" of ") + memory;
  if (const std::string place = array.allocated.text(); !place.empty())
    text += ", allocated at " + place;
  if (array.is_freed)
    if (const std::string place = array.released.text(); !place.empty())
      text += ", freed at " + place;
  return text;
}

void describe(Finding& finding, const Array& array, unsigned element) {
  finding.array = name_of(array);
  finding.details.push_back(description_of(array, element));
}

Finding* KernelChecks::begin(const char* kind, const void* first, const void* second) {
  const auto found = known_.find({kind, {first, second}});
  if (found == known_.end()) return nullptr;
  ++found->second->count;
  return found->second;
}

// Findings are reported once per array. Arrays that the same line of a kernel allocated count as
// one array.
static const void* key_of(const Array& array) {
  return array.of_heap ? array.allocated.return_address : array.begin;
}

void KernelChecks::finish(const char* kind, const void* first, const void* second,
                          Finding finding) {
  const std::string line = finding.kind + finding.kernel + finding.place + finding.array;
  Finding*& known = of_line_[line];
  if (known)
    ++known->count;
  else
    known = &report(std::move(finding));
  known_[{kind, {first, second}}] = known;
}

Finding KernelChecks::of_access(const char* kind, const Accessed& accessed,
                                std::string what) const {
  Finding finding(kind, std::move(what));
  finding.place = place_in_program({accessed.code}).text();
  fill_in_culprit(finding);
  // A kernel of Thrust or CUB: the program's own line is that of its call.
  if (is_of_library(finding.place) && !finding.launched_at.empty())
    finding.place = finding.launched_at;
  return finding;
}

void KernelChecks::describe(Finding& finding, const Array& array, const Accessed& accessed) const {
  finding.array = name_of(array);
  const auto offset = static_cast<long long>(accessed.address - array.begin);
  const auto size = static_cast<long long>(accessed.bytes > kMaxAccess ? 1 : accessed.bytes);
  finding.has_index = true;
  finding.index = offset >= 0 ? offset / size : -((-offset + size - 1) / size);
  std::string line = "index " + std::to_string(finding.index);
  if (offset % size != 0)
    line += " and " + std::to_string((offset % size + size) % size) + " bytes";
  finding.details.push_back(line + " of " + description_of(array, accessed.bytes));
}

void KernelChecks::out_of_bounds(const Array& array, const Accessed& accessed) {
  const char* kind = array.is_freed ? "use after free" : "out of bounds";
  if (begin(kind, accessed.code, key_of(array))) return;
  const auto bytes = [](std::ptrdiff_t n) { return counted(static_cast<std::size_t>(n), "byte"); };
  const std::string size = counted(accessed.bytes, "byte");
  const auto end = array.begin + array.full_size;
  std::string what =
      std::string(running_block ? "a kernel " : "host code ") + verb(accessed.kind) + " ";
  if (array.is_freed)
    what += "memory that was freed";
  else if (accessed.address < array.begin)
    what += "out of bounds: " + size + ", " + bytes(array.begin - accessed.address) +
            " before the beginning of " + name_of(array);
  else if (accessed.address < end)
    what += "out of bounds: " + size + ", of which only " + std::to_string(end - accessed.address) +
            " are in " + name_of(array);
  else
    what += "out of bounds: " + size + ", " + bytes(accessed.address - end) + " past the end of " +
            name_of(array);
  Finding finding = of_access(kind, accessed, what);
  describe(finding, array, accessed);
  if (array.is_freed)
    finding.advice = "free it after the last kernel that uses it";
  else if (array.full_size == 0)
    finding.advice = "pass the number of bytes of dynamic shared memory to the launch";
  else
    finding.advice =
        "compare the index with the number of elements (if (i < n)), and the number of allocated "
        "bytes with the number of bytes used";
  finish(kind, accessed.code, key_of(array), std::move(finding));
}

void KernelChecks::block_ended(const Races& races) {
  for (Pending& pending : pending_) {
    const auto is_of_it = [&](const auto& race) {
      return race.first.first == pending.site || race.first.second == pending.site;
    };
    if (!pending.pair.empty())
      of_line_[pending.pair] = &report(std::move(pending.finding));
    else if (std::none_of(races.found().begin(), races.found().end(), is_of_it))
      report(std::move(pending.finding));
  }
  pending_.clear();
}

namespace {

// Describes the unwritten bytes at or after this offset, unless the array begins with them.
void describe_gap(Finding& finding, const Array& array, std::size_t offset) {
  const std::uint8_t* const first = array.writers.get();
  const std::uint8_t* const end = first + array.full_size;
  const std::uint8_t* gap = std::find(first + offset, end, kNobody);
  const std::uint8_t* const next =
      std::find_if(gap, end, [](std::uint8_t writer) { return writer != kNobody; });
  while (gap != first && gap[-1] == kNobody) --gap;
  if (gap == first || gap == end) return;
  const std::string written = std::to_string(gap - first);
  if (next != end)
    finding.details.push_back("nothing wrote its bytes " + written + " to " +
                              std::to_string(next - first - 1) +
                              ", but the bytes before and after them were written");
  if (next != end || std::find(first, gap, kNobody) != gap) return;
  const std::string place = array.filled_at.text();
  finding.details.push_back("only the first " + written + " of its " +
                            std::to_string(array.full_size) + " bytes were written" +
                            (place.empty() ? "" : ", the last of them at " + place) +
                            ": was sizeof forgotten, or is the grid too small?");
}

}  // namespace

void KernelChecks::unwritten(const Array& array, const Accessed& accessed, std::uint32_t site) {
  const char* kernel = running_block ? running_block->launch().site.kernel : nullptr;
  if (begin("uninitialised", key_of(array), kernel)) return;
  Finding finding =
      of_access("uninitialised", accessed,
                std::string(kernel ? "a kernel " : "host code ") + verb(accessed.kind) + " " +
                    counted(accessed.bytes, "byte") + " of " + name_of(array) +
                    (accessed.bytes == 1 ? " that was" : " that were") + " never written");
  describe(finding, array, accessed);
  if (array.space == Space::global) describe_gap(finding, array, array.offset_of(accessed.address));
  finding.advice = array.space == Space::shared
                       ? "write every element before it is read, with a barrier in between"
                   : kernel
                       ? "fill the array before the launch, with cudaMemset, cudaMemcpy or a kernel"
                       : "let a kernel or host code write every element before it is read";
  if (array.space == Space::global)
    return finish("uninitialised", key_of(array), kernel, std::move(finding));
  static Finding once;  // counted but not shown
  known_[{"uninitialised", {key_of(array), kernel}}] = &once;
  pending_.push_back({std::move(finding), site, ""});
}

void KernelChecks::misaligned(const Array* array, const Accessed& accessed, unsigned alignment) {
  if (begin("misaligned", accessed.code, nullptr)) return;
  Finding finding = of_access(
      "misaligned", accessed,
      std::string("a kernel ") + verb(accessed.kind) + " " + counted(accessed.bytes, "byte") +
          " at an address that is not a multiple of " + std::to_string(alignment));
  if (array) describe(finding, *array, accessed);
  finding.advice = "align vector accesses to a multiple of the vector's size";
  finish("misaligned", accessed.code, nullptr, std::move(finding));
}

void KernelChecks::host_memory(const Accessed& accessed) {
  if (begin("host pointer", accessed.code, nullptr)) return;
  // Ignores the emulator's own accesses: its texture functions read texture objects, and it calls
  // some functions of the standard library that are not inlined.
  if (is_code_of_header(accessed.code, "/hostcuda/texture.h") ||
      CodePlace{accessed.code}.text().find("/include/c++/") != std::string::npos) {
    static Finding ignored;
    known_[{"host pointer", {accessed.code, nullptr}}] = &ignored;
    return;
  }
  Finding finding = of_access(
      "host pointer", accessed,
      std::string("a kernel ") + verb(accessed.kind) + " host memory, which a GPU cannot access");
  finding.advice =
      "pass memory from cudaMalloc, cudaMallocManaged or cudaMallocHost to the kernel, and copy "
      "the data there";
  finish("host pointer", accessed.code, nullptr, std::move(finding));
}

void KernelChecks::device_memory(const Array& array, const Accessed& accessed) {
  if (begin("device pointer", accessed.code, key_of(array))) return;
  Finding finding = of_access(
      "device pointer", accessed,
      std::string("host code ") + verb(accessed.kind) + " device memory, which it cannot access");
  describe(finding, array, accessed);
  finding.advice = array.of_heap
                       ? "let a kernel copy the data to memory that cudaMalloc allocated; "
                         "the API cannot copy from the kernels' heap"
                       : "copy the data with cudaMemcpy, or allocate the memory with "
                         "cudaMallocManaged";
  finish("device pointer", accessed.code, key_of(array), std::move(finding));
}

void KernelChecks::device_variable(const char* name, const Accessed& accessed) {
  if (begin("device pointer", accessed.code, nullptr)) return;
  Finding finding =
      of_access("device pointer", accessed,
                std::string("host code ") + verb(accessed.kind) + " the __device__ variable " +
                    name + "; kernels use a different copy of it");
  finding.array = name;
  finding.advice = std::string(accessed.kind == Kind::load ? "copy it with cudaMemcpyFromSymbol"
                                                           : "copy to it with cudaMemcpyToSymbol") +
                   ", or declare it __managed__";
  finish("device pointer", accessed.code, nullptr, std::move(finding));
}

void KernelChecks::wrong_device(const Array& array, const Accessed& accessed) {
  if (begin("wrong device", accessed.code, array.begin)) return;
  const int device = running_block->launch().device;
  Finding finding =
      of_access("wrong device", accessed,
                "a kernel on device " + std::to_string(device) + " " + verb(accessed.kind) +
                    " memory of device " + std::to_string(array.device) + " without peer access");
  describe(finding, array, accessed);
  finding.advice = "call cudaSetDevice before the launch, or cudaDeviceEnablePeerAccess";
  finish("wrong device", accessed.code, array.begin, std::move(finding));
}

void KernelChecks::constant_of_other_device(const Accessed& accessed) {
  if (begin("wrong device", accessed.code, nullptr)) return;
  const int device = running_block->launch().device;
  Finding finding =
      of_access("wrong device", accessed,
                std::string("a kernel ") + verb(accessed.kind) +
                    " a variable that was set only on another device, not on device " +
                    std::to_string(device));
  finding.advice = "call cudaMemcpyToSymbol once per device, after cudaSetDevice";
  finish("wrong device", accessed.code, nullptr, std::move(finding));
}

void KernelChecks::constant_never_set(const Array& array, const Accessed& accessed,
                                      std::size_t bytes_set) {
  if (begin("constant never set", accessed.code, key_of(array))) return;
  Finding finding = of_access("constant never set", accessed,
                              "a kernel reads " + std::string(bytes_set ? "a part of " : "") +
                                  "the __constant__ variable " + array.name +
                                  ", which host code has not set, so " +
                                  (bytes_set ? "the part" : "it") + " is zero");
  finding.array = array.name;
  finding.advice = "call cudaMemcpyToSymbol before the launch, or give it an initialiser";
  if (bytes_set) {
    describe(finding, array, accessed);
    finding.details.push_back("host code set " + std::to_string(bytes_set) + " of its " +
                              std::to_string(array.size) + " bytes");
    finding.advice = "set all of it: cudaMemcpyToSymbol takes a number of bytes, not of elements";
  }
  finish("constant never set", accessed.code, key_of(array), std::move(finding));
}

void KernelChecks::bytes_as_number(const Array& array, const Accessed& accessed) {
  if (begin("bytes as a number", accessed.code, key_of(array))) return;
  const int byte = static_cast<unsigned char>(*accessed.address);
  Finding finding =
      of_access("bytes as a number", accessed,
                "a kernel reads " + counted(accessed.bytes, "byte") + " of " + name_of(array) +
                    " as one number, but cudaMemset set each byte to " + std::to_string(byte));
  describe(finding, array, accessed);
  if (accessed.bytes == 4) {
    int whole;
    std::memcpy(&whole, accessed.address, sizeof whole);
    finding.details.push_back("as an int, the number is " + std::to_string(whole));
  }
  if (const std::string place = array.filled_at.text(); !place.empty())
    finding.details.push_back("the last fill or copy is at " + place);
  finding.advice = "cudaMemset sets bytes: fill numbers with a kernel, or copy them from the host";
  finish("bytes as a number", accessed.code, key_of(array), std::move(finding));
}

namespace {

std::string side_text(const Side& side, const SiteKey& site, const std::string& place) {
  return std::string(name_of(site.kind)) +
         (side.access.has_scope_of_block() ? " with the scope of its block, by" : " by") +
         " thread " + text_of(side.thread) + " of block " + text_of(side.block) + " at " + place;
}

}  // namespace

void KernelChecks::race(const Race& race, const SiteKey& earlier, const SiteKey& later) {
  const std::string first = CodePlace{reinterpret_cast<const void*>(earlier.code)}.text();
  const std::string second = CodePlace{reinterpret_cast<const void*>(later.code)}.text();
  // Which of the two accesses came first is a matter of chance, so both orders count as one pair.
  const std::string kernel = running_block->launch().site.kernel;
  const auto ordered = std::minmax(first, second, [](const auto& a, const auto& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);  // sorts line 9 before line 10
  });
  const std::string pair =
      kernel + ordered.first + " " + ordered.second + (race.is_same_value ? " same value" : "");
  // If several threads run a line that loads and then stores the same element, updates are lost.
  // The tracer reports no race between that line's load and its store until it has found a race
  // between two of the line's stores, which confirms that several threads run the line.
  const bool is_load_and_store = earlier.kind != later.kind && first == second &&
                                 earlier.kind != Kind::atomic && later.kind != Kind::atomic;
  const auto candidate = std::find_if(pending_.begin(), pending_.end(),
                                      [&](const Pending& known) { return known.pair == pair; });
  const bool is_update = candidate != pending_.end() && earlier.kind == later.kind;
  if (candidate != pending_.end() && !is_update) return;
  if (is_update) pending_.erase(candidate);
  Finding finding;
  finding.kind = is_update ? "lost update" : race.is_same_value ? "same-value stores" : "race";
  fill_in_culprit(finding);
  const std::string memory = race.array->space == Space::shared ? "shared" : "global";
  finding.what = "RACE in kernel " + finding.kernel + ": nothing orders these two " +
                 (race.is_same_value ? "stores of the same value" : "accesses") + " to " +
                 name_of(*race.array) + " in " + memory + " memory, at " + ordered.first +
                 (first == second ? "" : " and " + ordered.second);
  finding.in_block = finding.in_thread = true;
  finding.block = race.later.block;
  finding.thread = race.later.thread;
  finding.place = second;
  finding.array = name_of(*race.array);
  const unsigned element = later.bytes;
  finding.has_index = true;
  finding.index = static_cast<long long>(race.offset / element);
  finding.details = {side_text(race.earlier, earlier, first), side_text(race.later, later, second)};
  if (first != second)
    finding.details.insert(finding.details.begin() + 1, "  " + statement_at(first));
  finding.details.push_back("index " + std::to_string(finding.index) + " of " +
                            description_of(*race.array, element));
  // If a header of CUB or hostcuda made the access, the finding gives the program's call.
  const std::string call =
      text_of(running_block->current().index) == text_of(race.later.thread)
          ? place_in_program({reinterpret_cast<const void*>(later.code)}).text()
          : second;
  if (call != second) {
    finding.place = call;
    finding.details.push_back("the later access is made by the call at " + call);
  }
  const bool narrow =
      race.earlier.access.has_scope_of_block() || race.later.access.has_scope_of_block();
  const bool same_block = text_of(race.earlier.block) == text_of(race.later.block);
  finding.advice =
      is_update ? "update the element with an atomic (atomicAdd, ...); otherwise updates are lost"
      : race.is_same_value ? "the result is the same on today's GPUs, but CUDA does not promise "
                             "this; let one thread store the value, or use an atomic"
      : narrow && !same_block
          ? "let the scope of the atomic be the device (atomicAdd instead of atomicAdd_block, "
            "thread_scope_device)"
      : same_block
          ? "put a __syncthreads() between them, or a __syncwarp() within a warp"
          : "let each block write its own elements, use atomics, or split the kernel into two "
            "launches; an atomic that signals other blocks needs a __threadfence() before it";
  if (memory == "global" && (earlier.kind == Kind::atomic) != (later.kind == Kind::atomic))
    finding.advice += "; if the load may return either value, make it through a volatile pointer";
  if (of_line_.count(pair)) {
    ++of_line_[pair]->count;
  } else if (is_load_and_store) {
    pending_.push_back({std::move(finding), 0, pair});
  } else {
    of_line_[pair] = &report(std::move(finding));
  }
}

void KernelChecks::copy_in_flight(const Array& array, std::size_t offset, const SiteKey& copy,
                                  const SiteKey& access, const Side& side) {
  const auto* copies = reinterpret_cast<const void*>(copy.code);
  const auto* reads = reinterpret_cast<const void*>(access.code);
  if (begin("unfinished copy", copies, reads)) return;
  const std::string started = CodePlace{copies}.text();
  Finding finding = of_access(
      "unfinished copy", {array.begin + offset, access.bytes, access.kind, reads},
      "a kernel " + std::string(verb(access.kind)) + " " + name_of(array) +
          " while the asynchronous copy started at " + started + " may still be writing it");
  finding.place = CodePlace{reads}.text();
  finding.block = side.block;
  finding.thread = side.thread;
  describe(finding, array, {array.begin + offset, access.bytes, access.kind, reads});
  finding.advice =
      "wait for the copy first (__pipeline_wait_prior(0), consumer_wait(), cp.async.wait_all), and "
      "call __syncthreads() after the wait if other threads read the data; the argument of "
      "__pipeline_wait_prior is how many of the newest batches may still be running";
  finish("unfinished copy", copies, reads, std::move(finding));
}

void KernelChecks::block_has_ended(const Array& array, const Accessed& accessed) {
  if (begin("block has ended", accessed.code, array.begin)) return;
  Finding finding = of_access("block has ended", accessed,
                              std::string("a kernel ") + verb(accessed.kind) +
                                  " the shared memory of another block of its cluster, but that "
                                  "block has ended or has not begun");
  finding.array = name_of(array);
  finding.advice = "let every block wait in cluster.sync() until the others have read its memory";
  finish("block has ended", accessed.code, array.begin, std::move(finding));
}

void KernelChecks::table_of_host(const Array& array, const Accessed& accessed,
                                 const std::string& of_class) {
  if (begin("virtual call", accessed.code, key_of(array))) return;
  Finding finding =
      of_access("virtual call", accessed,
                "a kernel calls a virtual function of an object of class " + of_class +
                    " whose constructor ran in host code, so its virtual functions are the host's");
  describe(finding, array, accessed);
  finding.advice = "construct the object in a kernel (new, or placement new in device memory)";
  finish("virtual call", accessed.code, key_of(array), std::move(finding));
}

bool KernelChecks::knows_lost_partial(const void* code) {
  return begin("lost partial result", code, nullptr);
}

void KernelChecks::lost_partial(const Array& array, const void* code, unsigned threads) {
  const std::string odd = std::to_string(threads), half = std::to_string(threads / 2);
  Finding finding =
      of_access("lost partial result", {array.begin, kWordBytes, Kind::store, code},
                "the reduction in " + name_of(array) + " loses a value: " + odd +
                    " threads add in one step and " + half + " in the next, so element " +
                    std::to_string(threads - 1) + " is left out");
  finding.in_thread = false;
  hostcuda::trace::describe(finding, array);
  finding.advice =
      "start with a power of two (pad with zeros), or round the half up: half = (n + 1) / 2, "
      "if (i < n - half)";
  finish("lost partial result", code, nullptr, std::move(finding));
}

void KernelChecks::memory_of_other_thread(const Accessed& accessed) {
  if (begin("local memory", accessed.code, nullptr)) return;
  Finding finding = of_access(
      "local memory", accessed,
      std::string("a kernel ") + verb(accessed.kind) + " a local variable of another thread");
  finding.advice = "exchange values through shared memory or a shuffle";
  finish("local memory", accessed.code, nullptr, std::move(finding));
}

void KernelChecks::unordered(const Array& array, const Accessed& accessed, std::uint32_t number) {
  const OperationRecord& other = epochs_.operation(number);
  const Operation* copy = running_block ? nullptr : running_operation();
  const bool is_host = !running_block && !copy;
  const void* code = copy ? copy->place.return_address : accessed.code;
  if (begin("unordered", code, other.place.return_address)) return;
  const std::string who = is_host ? "host code" : copy ? copy->function : "a kernel";
  Finding finding =
      of_access(is_host ? "not synchronised" : "unordered operations", accessed,
                who + " " + verb(accessed.kind) + " " + name_of(array) + ", which " + other.what +
                    (is_host          ? ""
                     : other.of_graph ? " in another node of the graph"
                                      : " in another stream") +
                    " may still be using");
  if (copy) finding.place = copy->place.text();
  describe(finding, array, accessed);
  finding.details.push_back("the other operation: " + other.what + ", at " + other.place.text());
  finding.advice =
      is_host ? "synchronise with the stream first: cudaDeviceSynchronize, "
                "cudaStreamSynchronize or cudaEventSynchronize"
      : other.of_graph
          ? "make one node depend on the other: pass the dependency when the node is added, or "
            "call "
            "cudaGraphAddDependencies"
          : "record an event after the first operation, and let the other stream wait for it";
  finish("unordered", code, other.place.return_address, std::move(finding));
}

void KernelChecks::said_by_compiler(const std::string& kind, const std::string& what,
                                    const std::string& place, const std::string& array,
                                    const long long* index, const std::string& advice,
                                    const void* code) {
  if (begin(kind.c_str(), code, nullptr)) return;
  Finding finding = of_access(kind.c_str(), {nullptr, 0, Kind::load, nullptr}, what);
  finding.place = place;
  finding.array = array;
  finding.has_index = index;
  if (index) finding.index = *index;
  finding.advice = advice;
  finish(kind.c_str(), code, nullptr, std::move(finding));
}

}  // namespace hostcuda::trace
