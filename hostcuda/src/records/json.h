// Writes the JSON records that the launcher reads. A library for JSON would add 9 s of processor
// time to an installation, and users would have to install it.
#ifndef HOSTCUDA_SRC_RECORDS_JSON_H
#define HOSTCUDA_SRC_RECORDS_JSON_H

#include <concepts>
#include <initializer_list>
#include <string>

namespace hostcuda {

// One JSON value. Objects keep the order of their members.
class Json {
 public:
  struct Member;

  Json() = default;  // null
  Json(const char* text);
  Json(const std::string& text) : Json(text.c_str()) {}
  Json(std::integral auto number) : text_(std::to_string(number)) {}
  Json(bool value) : text_(value ? "true" : "false") {}
  Json(std::initializer_list<Member> members);
  static Json array();
  template <class Values>
  static Json array(const Values& values) {
    Json list = array();
    for (const auto& value : values) list.push_back(value);
    return list;
  }

  void push_back(const Json& value);             // only of arrays
  void add(const char* key, const Json& value);  // only to objects
  const std::string& text() const { return text_; }

 private:
  void insert(const std::string& item);

  std::string text_ = "null";
};

struct Json::Member {
  const char* key;
  Json value;
};

}  // namespace hostcuda

#endif
