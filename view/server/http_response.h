// Answers plain HTTP requests with the page, or with an error and its reason. Part of server.cpp.
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

// The answer's text is not copied, because literals and the page outlive the answer.
struct Answer {
  std::string head;
  std::string_view body;
};

// True for ":80" and other ports.
inline bool is_port(std::string_view text) {
  return text.starts_with(':') && parse_whole<std::uint16_t>(text.substr(1)).value_or(0) > 0;
}

// True for "name" or "name:port", where `name` is a name of this machine. Any port is allowed: a
// browser behind an ssh tunnel gives the port at the browser's end of the tunnel.
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

// The owner of a domain can point it at 127.0.0.1, and a browser would then treat that domain's
// pages as ours (DNS rebinding). The Host header reveals this.
inline bool has_good_host(const Request& request) {
  return request.count(http::field::host) == 1 && is_loopback(field(request, http::field::host));
}

// Browsers let any page open a WebSocket to any address, but they send the page's origin in the
// Origin header.
inline bool has_good_origin(const Request& request) {
  return request.count(http::field::origin) == 1 &&
         field(request, http::field::origin) ==
             "http://" + std::string(field(request, http::field::host));
}

// Returns a random path, under which the program serves everything. It is different in every run.
// All users of this machine can reach 127.0.0.1, but only those who can read the program's output
// know the path.
inline std::string random_path() {
  std::random_device random;
  std::string path = "/";
  for (int k = 0; k < 4; ++k) path += format("%08x", random());
  return path + "/";
}

// Compares two strings in a time that does not depend on where they differ. Otherwise, measuring
// the time would help to guess a secret piece by piece.
inline bool same_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

// Returns the part of the target after the secret path, or nothing if the path is missing.
inline std::optional<std::string_view> target_in(std::string_view path, const Request& request) {
  const std::string_view target(request.target().data(), request.target().size());
  if (!same_text(target.substr(0, path.size()), path)) return std::nullopt;
  return target.substr(path.size());
}

// Returns why this request may not open a WebSocket, or "" if it may.
inline std::string_view why_no_viewer(const Request& request, std::string_view path) {
  if (!has_good_host(request)) return "Only ws://127.0.0.1 and ws://localhost.\n";
  if (target_in(path, request) != "socket") return "Use the address that the program prints.\n";
  return has_good_origin(request) ? "" : "Only for pages served by this program.\n";
}

inline constexpr std::string_view kForbidden = "403 Forbidden";

inline Answer answer(std::string_view status, std::string_view type, std::string_view body) {
  std::string head = "HTTP/1.1 ";
  head.append(status).append("\r\nContent-Type: ").append(type);
  head += "; charset=utf-8\r\nContent-Length: " + std::to_string(body.size());
  head +=
      "\r\n"
      "Connection: close\r\n"
      "Allow: GET\r\n"
      "Cache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "Referrer-Policy: no-referrer\r\n"  // the referrer would contain the secret path
      "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; "
      "style-src 'unsafe-inline'; img-src data:; "
      "connect-src 'self' ws://127.0.0.1:* ws://localhost:*; frame-ancestors 'none'\r\n\r\n";
  return {head, body};
}

inline Answer refusal(std::string_view status, std::string_view why) {
  return answer(status, "text/plain", why);
}

inline Answer answer_to(const Request& request, std::string_view path, std::string_view page) {
  if (!has_good_host(request))
    return refusal(kForbidden, "Only http://127.0.0.1 and http://localhost.\n");
  const auto target = target_in(path, request);
  if (!target) return refusal(kForbidden, "Use the address that the program prints.\n");
  if (request.method() != http::verb::get) return refusal("405 Method Not Allowed", "Only GET.\n");
  if (!target->empty()) return refusal("404 Not Found", "Not found.\n");
  return answer("200 OK", "text/html", page);
}

}  // namespace nbody::view
