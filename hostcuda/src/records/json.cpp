#include "records/json.h"

#include <cstdio>

namespace hostcuda {
namespace {

bool needs_escape(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' '; }

std::string escape(char c) {
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", unsigned{static_cast<unsigned char>(c)});
  return text;
}

}  // namespace

Json::Json(const char* text) : text_("\"") {
  for (; *text; ++text) text_ += needs_escape(*text) ? escape(*text) : std::string(1, *text);
  text_ += '"';
}

Json::Json(std::initializer_list<Member> members) : text_("{}") {
  for (const Member& member : members) add(member.key, member.value);
}

Json Json::array() {
  Json list;
  list.text_ = "[]";
  return list;
}

void Json::push_back(const Json& value) { insert(value.text_); }

void Json::add(const char* key, const Json& value) { insert(Json(key).text_ + ": " + value.text_); }

// Each item is on its own line, so that records can be compared by lines.
void Json::insert(const std::string& item) {
  const char end = text_.back();
  text_.pop_back();
  text_ += (text_.size() > 1 ? ",\n" : "") + item + end;
}

}  // namespace hostcuda
