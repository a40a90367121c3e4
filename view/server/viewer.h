// One WebSocket with two coroutines: one reads commands, the other writes due messages. Part of
// server.cpp; everything runs on the server's one thread.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "boost.h"
#include "server.h"

namespace nbody::view {

class Viewer;

// The data to show, and the viewers.
struct Feed {
  struct Newest {
    std::string text;
    int number = 0;  // number of texts of this kind so far
  };
  std::array<Newest, kTexts> texts;
  std::shared_ptr<const std::string> frame;
  int frame_number = 0;
  std::set<Viewer*> viewers;
  Handlers handlers;

  void show(Text kind, std::string text) {
    Newest& newest = texts[static_cast<std::size_t>(kind)];
    newest.text = std::move(text);
    ++newest.number;
  }
  bool knows_anything() const {
    return std::any_of(texts.begin(), texts.end(),
                       [](const Newest& one) { return one.number > 0; });
  }
};

class Viewer : public std::enable_shared_from_this<Viewer> {
 public:
  Viewer(Socket socket, Feed& feed)
      : socket_(std::move(socket)), wake_up_(socket_.get_executor()), feed_(feed) {}

  ~Viewer() {
    if (feed_.viewers.erase(this) == 1) feed_.handlers.viewers(count());
  }

  Task run(http::request<http::empty_body> request) {
    socket_.set_option(websocket::stream_base::timeout{
        std::chrono::seconds(10), std::chrono::seconds(60), true});  // handshake, idle, pings
    socket_.read_message_max(kMaxCommandBytes);
    socket_.auto_fragment(false);
    co_await socket_.async_accept(request, use_awaitable);
    feed_.viewers.insert(this);
    feed_.handlers.viewers(count());
    net::co_spawn(
        socket_.get_executor(), [self = shared_from_this()] { return self->write(); },
        net::detached);
    try {
      co_await read();
    } catch (const boost::system::system_error&) {  // the viewer is gone or was disconnected
    }
    gone_ = true;
    wake();
  }

  void wake() { wake_up_.cancel(); }

 private:
  static constexpr std::size_t kMaxCommandBytes = 4096;
  // A viewer may request a few frames in advance, so that one is always in transit.
  static constexpr int kMaxFramesRequested = 8;

  int count() const { return static_cast<int>(feed_.viewers.size()); }

  Task read() {
    beast::flat_buffer buffer;
    while (true) {
      const std::size_t bytes = co_await socket_.async_read(buffer, use_awaitable);
      const auto close_code = handle({static_cast<const char*>(buffer.data().data()), bytes});
      buffer.consume(bytes);
      if (close_code != websocket::close_code::none) {
        co_await socket_.async_close(close_code, use_awaitable);
        co_return;
      }
      // Stop reading from a client until it has read our error reply.
      while (!reply_.empty() && !gone_) co_await sleep();
    }
  }

  websocket::close_code handle(std::string_view text) {
    if (!socket_.got_text()) return websocket::close_code::unknown_data;
    try {
      const Command command = parse_command(text);
      if (command.type == Command::Type::next) {
        frames_requested_ = std::min(frames_requested_ + 1, kMaxFramesRequested);
      } else {
        feed_.handlers.command(command);
      }
    } catch (const UnknownCommand& error) {
      reply_ = error_message(error.what());
    } catch (const MalformedMessage&) {
      return websocket::close_code::bad_payload;
    }
    wake();
    return websocket::close_code::none;
  }

  Task write() {
    try {
      while (!gone_) {
        if (!reply_.empty()) {
          co_await send(reply_, true);
          reply_.clear();
          wake();
        } else if (const auto due = text_due()) {
          text_sent_[*due] = feed_.texts[*due].number;
          const std::string text = feed_.texts[*due].text;  // a copy, because feed_ may change
          co_await send(text, true);
        } else if (frames_requested_ > 0 && frame_sent_ != feed_.frame_number) {
          frame_sent_ = feed_.frame_number;
          --frames_requested_;
          const auto frame = feed_.frame;
          co_await send(*frame, false);
        } else {
          co_await sleep();
        }
      }
    } catch (const boost::system::system_error&) {
      gone_ = true;
    }
  }

  std::optional<std::size_t> text_due() const {
    for (std::size_t kind = 0; kind < text_sent_.size(); ++kind)
      if (text_sent_[kind] != feed_.texts[kind].number) return kind;
    return std::nullopt;
  }

  Task send(const std::string& message, bool is_text) {
    socket_.text(is_text);
    co_await socket_.async_write(net::buffer(message), use_awaitable);
  }

  // Sleeps until wake(). Since there is only one thread, no message can become due between a
  // caller's check and the sleep.
  Task sleep() {
    wake_up_.expires_at(Timer::time_point::max());
    try {
      co_await wake_up_.async_wait(use_awaitable);
    } catch (const boost::system::system_error&) {  // wake() has cancelled the timer
    }
  }

  WebSocket socket_;
  Timer wake_up_;
  Feed& feed_;
  std::string reply_;
  std::array<int, kTexts> text_sent_{};
  int frame_sent_ = 0, frames_requested_ = 0;
  bool gone_ = false;
};

}  // namespace nbody::view
