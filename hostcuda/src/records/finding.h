// The result of a check, in a form that all checks share: the error, the kernel and the thread that
// caused it, the error's place, and how to correct the error.
#ifndef HOSTCUDA_SRC_RECORDS_FINDING_H
#define HOSTCUDA_SRC_RECORDS_FINDING_H

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

  std::string kind;  // the kind of error, for tools, such as "out of bounds"
  bool is_warning = false;
  std::string what;
  // The launch. If `kernel` is empty, the finding is about host code.
  std::string kernel, launched_at;
  bool in_block = false, in_thread = false;
  uint3 block{}, thread{};
  std::string place;  // "file:line" if the place is known
  // The accessed element, if the finding is about an access.
  std::string array;  // the array's name, or the line that allocated it
  bool has_index = false;
  long long index = 0;               // index of the element
  std::vector<std::string> details;  // each is printed on its own line
  std::string advice;
  std::uint64_t count = 1;  // how often the error was found
};

std::string text_of(const Finding& finding);
std::string text_of(const uint3& position);  // (x,y,z)

// Returns the source line at "file:line", or an empty string if it cannot be read.
std::string statement_at(const std::string& place);

// Writes the finding to standard error, stores it, and calls hostcuda_finding (below).
Finding& report(Finding finding);

// Stores a finding that was printed in some other form.
void keep(Finding finding);

// Sets a function that adds the launch, block and thread to a finding if a kernel is running.
void describe_findings_with(void (*fill_in)(Finding& finding));
void fill_in_culprit(Finding& finding);

// Returns all findings of this process, in the order in which they were reported. Their addresses
// stay valid.
const std::list<Finding>& findings();

}  // namespace hostcuda

// Called with the text of every finding, so that a debugger can stop here.
extern "C" void hostcuda_finding(const char* text);

#endif
