#include "nbody/error.h"

namespace nbody {

void Part::append_to(std::string& text) const {
  if (is_negative_) text += '-';
  if (is_number_)
    text += std::to_string(size_);
  else
    text += text_;
}

std::string joined_parts(std::initializer_list<Part> parts) {
  std::string text;
  for (const Part& part : parts) part.append_to(text);
  return text;
}

std::string one_line(std::string text) {
  // Cuts the middle out of a long message, because the beginning says what is wrong and where, and
  // the end says what is allowed.
  constexpr std::size_t kKept = 400;
  if (text.size() > 2 * kKept)
    text = text.substr(0, kKept) + " ... " + text.substr(text.size() - kKept);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

}  // namespace nbody
