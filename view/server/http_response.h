// The answers to plain HTTP requests: the page, or a refusal with the reason. Part of server.cpp.
#pragma once

#include <string>
#include <string_view>

#include "boost.h"

namespace nbody::view {

using Request = http::request<http::empty_body>;
using Response = http::response<http::span_body<const char>>;

// The name in "name:port"; what it is called from this machine and through an ssh tunnel. The port
// is the one at the other end of the tunnel, so it may be any.
inline bool is_loopback(std::string_view host) {
  const std::size_t end_of_name = host.starts_with('[') ? host.find(']') : host.find(':');
  const std::size_t length = end_of_name + (host.starts_with('[') ? 1 : 0);
  const std::string_view name = host.substr(0, end_of_name == host.npos ? host.npos : length);
  return name == "127.0.0.1" || name == "localhost" || name == "[::1]";
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

inline Response answer(http::status status, std::string_view type, std::string_view body,
                       unsigned version = 11) {
  Response response(status, version);
  response.set(http::field::content_type, beast::string_view(type.data(), type.size()));
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Content-Security-Policy",
               "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
               "connect-src 'self' ws://127.0.0.1:* ws://localhost:*; frame-ancestors 'none'");
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

inline Response answer_to(const Request& request, std::string_view page) {
  if (!has_good_host(request))
    return refusal(http::status::forbidden, "Only http://127.0.0.1 and http://localhost.\n");
  if (request.method() != http::verb::get) {
    Response response = refusal(http::status::method_not_allowed, "Only GET.\n");
    response.set(http::field::allow, "GET");
    return response;
  }
  if (request.target() != "/") return refusal(http::status::not_found, "There is one page: /\n");
  Response response = answer(http::status::ok, "text/html; charset=utf-8", page, request.version());
  response.keep_alive(request.keep_alive());
  return response;
}

}  // namespace nbody::view
