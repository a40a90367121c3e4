// Captures what a program or a function prints or throws.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "nbody/error.h"

namespace nbody {

inline testing::AssertionResult says(const std::string& text, std::string_view part) {
  if (text.find(part) != text.npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << '"' << text << "\" does not say \"" << part << '"';
}

// Returns the message of the UsageError that the work throws, or "accepted" if it throws none.
template <class Work>
std::string refusal_of(const Work& work) {
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace nbody
