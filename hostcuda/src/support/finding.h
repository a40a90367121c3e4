// What a check found, in the one form that all of them share: what is wrong, who did it, where, and
// what to do.
#ifndef HOSTCUDA_SRC_SUPPORT_FINDING_H
#define HOSTCUDA_SRC_SUPPORT_FINDING_H

#include <cstdint>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "cuda_runtime.h"

namespace hostcuda {

struct Finding {
  Finding() = default;
  Finding(const char* kind, std::string what, std::string advice = "")
      : kind(kind), what(std::move(what)), advice(std::move(advice)) {}

  std::string kind;  // a name for programs: "out of bounds"
  bool is_warning = false;
  std::string what;
  // The launch; no name: host code did it.
  std::string kernel, launched_at;
  bool in_block = false, in_thread = false;
  uint3 block{}, thread{};
  std::string place;  // "file:line", where it is known
  // What the access meant, where it was one.
  std::string array;  // its name, or where it was allocated
  bool has_index = false;
  long long index = 0;               // of the element
  std::vector<std::string> details;  // a line each
  std::string advice;
  std::uint64_t count = 1;  // how often it happened
};

std::string text_of(const Finding& finding);
std::string text_of(const uint3& position);  // (x,y,z)

// The line of the source at "file:line"; empty where it cannot be read.
std::string statement_at(const std::string& place);

// Writes it to the standard error and keeps it. A debugger stops here: hostcuda_finding.
Finding& report(Finding finding);

// Keeps one that was written in other words.
void keep(Finding finding);

// Fills in the launch, the block and the thread that run. Does nothing in host code.
void describe_findings_with(void (*fill_in)(Finding& finding));
void fill_in_culprit(Finding& finding);

// All of this process, in the order in which they were found. Addresses stay.
const std::list<Finding>& findings();

}  // namespace hostcuda

// Called for every finding, with its text: a place for a breakpoint.
extern "C" void hostcuda_finding(const char* text);

#endif
