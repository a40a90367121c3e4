// The answers to plain HTTP requests: the page, or a refusal with the reason. Part of server.cpp.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "boost.h"
#include "support/text.h"

namespace nbody::view {

using Request = http::request<http::empty_body>;
using Response = http::response<http::span_body<const char>>;

// ":80" and the like.
inline bool is_port(std::string_view text) {
  if (!text.starts_with(':')) return false;
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number > 0;
}

// "name" or "name:port", where the name is one of this machine's own. Through an ssh tunnel the
// port is that of its other end, so any port is allowed.
inline bool is_loopback(std::string_view host) {
  for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!host.starts_with(name)) continue;
    const std::string_view rest = host.substr(name.size());
    return rest.empty() || is_port(rest);
  }
  return false;
}

inline std::string_view field(const Request& request, http::field name) {
  const auto value = request[name];
  return {value.data(), value.size()};
}

// The owner of a domain can point it at 127.0.0.1, and the browser would then take their pages for
// ours (DNS rebinding); the Host header gives it away.
inline bool has_good_host(const Request& request) {
  return request.count(http::field::host) == 1 && is_loopback(field(request, http::field::host));
}

// Browsers let any page open a WebSocket to any address, but say in Origin where the page is from.
inline bool has_good_origin(const Request& request) {
  return request.count(http::field::origin) == 1 &&
         field(request, http::field::origin) ==
             "http://" + std::string(field(request, http::field::host));
}

// The path under which everything is served; every program has one of its own, drawn at its start.
// 127.0.0.1 can be reached by all users of this machine, but the path is known only to those who
// can read what the program prints.
inline std::string random_path() {
  std::random_device random;
  std::string path = "/";
  for (int k = 0; k < 4; ++k) path += format("%08x", random());
  return path + "/";
}

// Takes the same time wherever the texts differ, so that a secret cannot be guessed piece by piece.
inline bool same_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

// The part of the target behind the secret path; none without it.
inline std::optional<std::string_view> target_in(std::string_view path, const Request& request) {
  const std::string_view target(request.target().data(), request.target().size());
  if (!same_text(target.substr(0, path.size()), path)) return std::nullopt;
  return target.substr(path.size());
}

inline Response answer(http::status status, std::string_view type, std::string_view body,
                       unsigned version = 11) {
  Response response(status, version);
  response.set(http::field::content_type, beast::string_view(type.data(), type.size()));
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");  // it would hold the secret path
  response.set("Content-Security-Policy",
               "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
               "img-src data:; connect-src 'self' ws://127.0.0.1:* ws://localhost:*; "
               "frame-ancestors 'none'");
  response.body() = beast::span<const char>(body.data(), body.size());
  response.content_length(body.size());
  return response;
}

// Response bodies are not copied: literals and the page outlive the response.
inline Response refusal(http::status status, std::string_view why) {
  Response response = answer(status, "text/plain; charset=utf-8", why);
  response.keep_alive(false);
  return response;
}

inline Response answer_to(const Request& request, std::string_view path, std::string_view page) {
  if (!has_good_host(request))
    return refusal(http::status::forbidden, "Only http://127.0.0.1 and http://localhost.\n");
  const auto target = target_in(path, request);
  if (!target)
    return refusal(http::status::forbidden, "Only with the address that the program prints.\n");
  if (request.method() != http::verb::get) {
    Response response = refusal(http::status::method_not_allowed, "Only GET.\n");
    response.set(http::field::allow, "GET");
    return response;
  }
  if (!target->empty()) return refusal(http::status::not_found, "There is one page.\n");
  Response response = answer(http::status::ok, "text/html; charset=utf-8", page, request.version());
  response.keep_alive(request.keep_alive());
  return response;
}

}  // namespace nbody::view
