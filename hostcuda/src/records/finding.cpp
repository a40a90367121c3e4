#include "records/finding.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <utility>

namespace hostcuda {
namespace {

// The list is never destroyed, because findings may be added until the process ends.
std::list<Finding>& all() {
  static auto* list = new std::list<Finding>;
  return *list;
}

constinit std::mutex mutex;
std::atomic<void (*)(Finding&)> filler;

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == line.npos) return "";
  return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

}  // namespace

std::string text_of(const uint3& v) {
  return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

std::string statement_at(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  if (colon == place.npos) return "";
  const int wanted = std::atoi(place.c_str() + colon + 1);
  std::ifstream file(place.substr(0, colon));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number)
    if (number == wanted) return trimmed(line);
  return "";
}

std::string text_of(const Finding& finding) {
  std::string text = std::string("hostcuda: ") + (finding.is_warning ? "warning: " : "ERROR: ") +
                     finding.what + "\n";
  if (!finding.launched_at.empty())
    text += "  kernel " + finding.kernel + " launched at " + finding.launched_at + "\n";
  if (finding.in_block) text += "  block " + text_of(finding.block) + "\n";
  std::string who = finding.in_thread ? "thread " + text_of(finding.thread) : "";
  if (!finding.place.empty()) who += (who.empty() ? "at " : " at ") + finding.place;
  if (!who.empty()) text += "  " + who + "\n";
  const std::string statement = statement_at(finding.place);
  if (!statement.empty()) text += "    " + statement + "\n";
  for (const std::string& detail : finding.details) text += "  " + detail + "\n";
  if (!finding.advice.empty()) text += "  To do: " + finding.advice + "\n";
  return text;
}

Finding& report(Finding finding) {
  const std::lock_guard lock(mutex);
  const std::string text = text_of(finding);
  std::fflush(stdout);
  std::fprintf(stderr, "%s%s", finding.is_warning ? "" : "\n", text.c_str());
  std::fflush(stderr);
  all().push_back(std::move(finding));
  hostcuda_finding(text.c_str());
  return all().back();
}

void keep(Finding finding) {
  all().push_back(std::move(finding));
  hostcuda_finding(all().back().what.c_str());
}

void describe_findings_with(void (*fill_in)(Finding& finding)) { filler = fill_in; }

void fill_in_culprit(Finding& finding) {
  if (const auto fill_in = filler.load()) fill_in(finding);
}

const std::list<Finding>& findings() { return all(); }

}  // namespace hostcuda

// The asm statement keeps the optimiser from removing calls of this function.
extern "C" __attribute__((noinline)) void hostcuda_finding(const char* text) {
  asm volatile("" : : "r"(text) : "memory");
}
