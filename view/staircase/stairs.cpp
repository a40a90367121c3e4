#include "stairs.h"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "page.h"
#include "server.h"
#include "stair_table.h"
#include "step_client.h"
#include "step_process.h"

namespace nbody::view {
namespace {

// A GPU's driver may take seconds to start; an emulated step takes seconds to end.
constexpr auto kMaxStart = std::chrono::seconds(60), kMaxEnd = std::chrono::seconds(10);

struct Stairs {
  const std::vector<std::filesystem::path> programs;
  const std::filesystem::path state, next_state;

  std::mutex mutex;  // guards the members from here to `server`
  std::condition_variable changed;
  bool viewed = false, stopped = false;
  std::optional<std::size_t> wanted = 0;
  bool lost = false;  // the running step ended unexpectedly
  StairTable table;
  StepClient* listener = nullptr;  // receives commands
  Server server;
  // Process and client of the running step; used only by the thread of run().
  std::unique_ptr<StepProcess> process;
  std::unique_ptr<StepClient> client;

  Stairs(int port, const std::vector<std::filesystem::path>& all,
         const std::filesystem::path& first_state)
      : programs(all),
        state(first_state),
        next_state(first_state.parent_path() / "next.csv"),
        table(all),
        server(port, live_page(), "", handlers()) {
    server.show(Text::stairs, table.message());
  }

  Handlers handlers() {
    return {.command = [this](const Command& command) { handle(command); },
            .viewers =
                [this](int count) {
                  if (count > 0) note(viewed);
                },
            .interrupted = [this] { note(stopped); }};
  }

  void note(bool& what) {
    const std::lock_guard lock(mutex);
    what = true;
    changed.notify_all();
  }

  void handle(const Command& command) {
    const std::lock_guard lock(mutex);
    if (command.type == Command::Type::stair) {
      if (command.stair >= programs.size())
        throw UnknownCommand("stair: there are only " + std::to_string(programs.size()) + " steps");
      wanted = command.stair;
      changed.notify_all();
    } else if (listener != nullptr) {
      listener->send(command_message(command));
    }
  }

  // Locks the mutex, changes the table and shows it.
  template <class Change>
  void change_table(const Change& change) {
    const std::lock_guard lock(mutex);
    change();
    server.show(Text::stairs, table.message());
  }

  StepClient::Handlers of_step() {
    return {.text =
                [this](std::string text) {
                  std::optional<Text> kind;
                  change_table([&] { kind = table.take_text(text); });
                  if (kind) server.show(*kind, std::move(text));
                },
            .frame =
                [this](const std::string& frame) {
                  server.show_frame(frame);
                  const std::lock_guard lock(mutex);
                  if (table.take_frame(frame)) server.show(Text::stairs, table.message());
                  if (listener != nullptr) listener->send(command_message({Command::Type::next}));
                },
            .lost = [this] { note(lost); }};
  }

  void start(std::size_t stair) {
    change_table([&] { table.starts(stair); });
    std::filesystem::remove(next_state);
    process = std::make_unique<StepProcess>(
        programs[stair],
        std::vector<std::string>{"--input", state.string(), "--output", next_state.string(),
                                 "--view", "0", "--validate", "off", "--quiet"},
        state.parent_path());
    const auto given_up = [this] {
      const std::lock_guard lock(mutex);
      return stopped || wanted;
    };
    const auto address = process->wait_for_address(kMaxStart, given_up);
    if (!address) return given_up() ? process.reset() : fail();
    try {
      client = std::make_unique<StepClient>(*address, of_step());
    } catch (const std::exception&) {  // the step has ended meanwhile
      return fail();
    }
    const std::lock_guard lock(mutex);
    listener = client.get();
    for (const Command& command : table.commands_to_go_on()) client->send(command_message(command));
    // Requests two frames in advance, as the page does.
    for (int k = 0; k < 2; ++k) client->send(command_message({Command::Type::next}));
  }

  // Stops the running step, which writes its bodies to a file for the next one.
  void stop() {
    if (!process) return;
    process->interrupt();
    if (!process->wait_for_end(kMaxEnd) || !process->failure().empty()) return fail();
    forget();
    // If the step computed nothing, it left no file, and the old state is still valid.
    if (std::filesystem::exists(next_state)) std::filesystem::rename(next_state, state);
    change_table([&] { table.ends(""); });
  }

  void fail() {
    process->wait_for_end(kMaxEnd);
    const std::string how = process->failure();
    forget();
    change_table([&] { table.ends(how.empty() ? "has ended" : how); });
  }

  void forget() {
    {
      const std::lock_guard lock(mutex);
      listener = nullptr;
    }
    client.reset();
    process.reset();
    const std::lock_guard lock(mutex);
    lost = false;  // the end of the process was requested, or has been reported
  }

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return stopped || lost || (viewed && wanted); });
      if (stopped) break;
      const auto next = std::exchange(wanted, std::nullopt);
      const bool is_lost = std::exchange(lost, false);
      lock.unlock();
      if (is_lost && process) fail();
      if (next) {
        stop();
        start(*next);
      }
      lock.lock();
    }
    lock.unlock();
    stop();
  }
};

}  // namespace

void run_stairs(int port, const std::vector<std::filesystem::path>& programs,
                const std::filesystem::path& state, std::ostream& out) {
  Stairs stairs(port, programs, state);
  stairs.server.print_address(out);
  out << "               until Ctrl-C\n" << std::flush;
  stairs.run();
}

}  // namespace nbody::view
