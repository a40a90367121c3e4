// Finds the known word that the user may have meant when a word is misspelt.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace nbody {

// Counts the edits that turn a into b: inserting, omitting or replacing a letter, or swapping two
// neighbouring letters.
inline int edits_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> edits(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) edits[i][0] = static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) edits[0][j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      edits[i][j] = std::min(
          {edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  return edits.back().back();
}

// Returns the known word that can be reached from `word` with the fewest edits, or "" if more than
// a third of the letters would have to change. If `word` has more than three letters and a known
// word begins with it, the missing letters count as one edit.
inline std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  int least = std::max<int>(2, static_cast<int>(word.size()) / 3 + 1);
  for (const std::string& candidate : known) {
    const bool cut_short = word.size() > 3 && candidate.starts_with(word);
    const int edits = cut_short ? 1 : edits_between(word, candidate);
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

}  // namespace nbody
