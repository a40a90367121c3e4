// The result of a check, in a form shared by all checks: the error, its author, the place, and the
// remedy.
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
  // The launch; without a kernel name, the finding is about host code.
  std::string kernel, launched_at;
  bool in_block = false, in_thread = false;
  uint3 block{}, thread{};
  std::string place;  // "file:line", where it is known
  // The meaning of the access, if it was one.
  std::string array;  // its name, or where it was allocated
  bool has_index = false;
  long long index = 0;               // of the element
  std::vector<std::string> details;  // one per line
  std::string advice;
  std::uint64_t count = 1;  // how often it happened
};

std::string text_of(const Finding& finding);
std::string text_of(const uint3& position);  // (x,y,z)

// The source line at "file:line"; empty if it cannot be read.
std::string statement_at(const std::string& place);

// Writes the finding to the standard error and stores it. A debugger can stop at hostcuda_finding.
Finding& report(Finding finding);

// Stores a finding that was printed in another form.
void keep(Finding finding);

// Fills in the running launch, block and thread. Does nothing in host code.
void describe_findings_with(void (*fill_in)(Finding& finding));
void fill_in_culprit(Finding& finding);

// All findings of this process, in order. Their addresses stay valid.
const std::list<Finding>& findings();

}  // namespace hostcuda

// Called with the text of every finding: a place for a breakpoint.
extern "C" void hostcuda_finding(const char* text);

#endif
