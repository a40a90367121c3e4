// hostcuda: the parts of the CUDA samples' helper_string.h that programs use (options of the form
// -name=value).
#pragma once

#include <strings.h>

#include <cstdlib>
#include <cstring>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

// Returns the text after the option's =, "" if there is no =, or null if the option was not given.
inline const char* hostcuda_option(int count, const char** words, const char* name) {
  const std::size_t length = std::strlen(name);
  for (int i = 1; i < count; ++i) {
    const char* word = words[i] + std::strspn(words[i], "-");
    if (word == words[i] || strncasecmp(word, name, length) != 0) continue;
    if (word[length] == '=') return word + length + 1;
    if (word[length] == '\0') return word + length;
  }
  return nullptr;
}

inline bool checkCmdLineFlag(const int count, const char** words, const char* name) {
  return hostcuda_option(count, words, name) != nullptr;
}

inline int getCmdLineArgumentInt(const int count, const char** words, const char* name) {
  const char* value = hostcuda_option(count, words, name);
  return value ? std::atoi(value) : 0;
}

inline float getCmdLineArgumentFloat(const int count, const char** words, const char* name) {
  const char* value = hostcuda_option(count, words, name);
  return value ? static_cast<float>(std::atof(value)) : 0.0f;
}

inline bool getCmdLineArgumentString(const int count, const char** words, const char* name,
                                     char** text) {
  const char* value = hostcuda_option(count, words, name);
  *text = const_cast<char*>(value);
  return value != nullptr;
}

template <class Number>
bool getCmdLineArgumentValue(const int count, const char** words, const char* name,
                             Number* number) {
  const char* value = hostcuda_option(count, words, name);
  if (value) *number = static_cast<Number>(std::atof(value));
  return value != nullptr;
}
