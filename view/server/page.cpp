#include "page.h"

#include <stdexcept>
#include <string_view>

namespace nbody::view {

// Defined in a generated file.
extern const std::string_view kPage, kLiveSource, kRecordedSource;

namespace {

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// Within a script element, "</script>" would end the element, and "<!--" would change how browsers
// read it.
std::string without_tags(std::string_view json) {
  std::string text;
  for (const char c : json) text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

std::string script(std::string_view attributes, std::string_view text) {
  return "<script" + std::string(attributes) + ">" + std::string(text) + "</script>\n";
}

std::string with(std::string_view mark, const std::string& replacement, std::string page) {
  const std::size_t at = page.find(mark);
  if (at == page.npos) throw std::logic_error("the page has no " + std::string(mark));
  return page.replace(at, mark.size(), replacement);
}

constexpr std::string_view kSourceMark = "<!-- source -->";
constexpr std::string_view kPolicyMark = "<!-- policy -->";

}  // namespace

std::string live_page() {
  return with(kPolicyMark, "", with(kSourceMark, script("", kLiveSource), std::string(kPage)));
}

std::string recorded_page(const std::string& info, const std::vector<std::string>& frames) {
  std::string source = script(" type=\"application/json\" id=\"info\"", without_tags(info));
  for (const std::string& frame : frames)
    source += script(" type=\"text/plain\" class=\"frame\"", base64(frame));
  source += script("", kRecordedSource);
  // Tells the browser to keep the page off the network.
  const std::string policy =
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">";
  return with(kPolicyMark, policy, with(kSourceMark, source, std::string(kPage)));
}

}  // namespace nbody::view
