#include "nbody/error.h"

namespace nbody {

std::string one_line(std::string text) {
  // The beginning says what and where, the end what is allowed.
  constexpr std::size_t kKept = 400;
  if (text.size() > 2 * kKept)
    text = text.substr(0, kKept) + " ... " + text.substr(text.size() - kKept);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

}  // namespace nbody
