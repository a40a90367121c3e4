#include "step_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <fstream>
#include <stdexcept>
#include <thread>

#include "nbody/error.h"
#include "support/text.h"

namespace nbody::view {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenLooks = std::chrono::milliseconds(10);

bool wait_until(const std::function<bool()>& is_true, std::chrono::seconds at_most) {
  for (const auto end = Clock::now() + at_most; !is_true();
       std::this_thread::sleep_for(kBetweenLooks))
    if (Clock::now() > end) return false;
  return true;
}

// Runs between fork and exec, so nothing here may allocate or lock.
[[noreturn]] void become(const char* program, char* const* words, const char* output,
                         const char* errors) {
  setpgid(0, 0);  // Ctrl-C then reaches only the viewer, which ends this process
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  const auto redirect = [](int descriptor, const char* file, int flags) {
    const int opened = open(file, flags, 0600);
    if (opened < 0 || dup2(opened, descriptor) < 0) _exit(126);
  };
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC);
  redirect(STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(program, words);
  _exit(127);
}

std::string last_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) last = line;
  return one_line(last);
}

}  // namespace

StepProcess::StepProcess(const std::filesystem::path& program,
                         const std::vector<std::string>& arguments,
                         const std::filesystem::path& folder)
    : output_(folder / "output.txt"), errors_(folder / "errors.txt") {
  // Removes the files of a previous step, which could be mistaken for those of this step.
  std::filesystem::remove(output_);
  std::filesystem::remove(errors_);
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), program.string());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  process_ = fork();
  if (process_ < 0) throw std::runtime_error(program.string() + ": cannot be started");
  if (process_ == 0) become(program.c_str(), pointers.data(), output_.c_str(), errors_.c_str());
}

StepProcess::~StepProcess() {
  if (has_ended()) return;
  kill(process_, SIGKILL);
  int status = 0;
  waitpid(process_, &status, 0);
}

bool StepProcess::has_ended() {
  int status = 0;
  if (!status_ && waitpid(process_, &status, WNOHANG) == process_) status_ = status;
  return status_.has_value();
}

std::optional<std::string> StepProcess::wait_for_address(std::chrono::seconds at_most,
                                                         const std::function<bool()>& given_up) {
  std::optional<std::string> found;
  const auto look = [&] {
    std::ifstream in(output_);
    for (std::string line; std::getline(in, line) && !in.eof();) {  // only complete lines
      const auto begin = line.find("http://127.0.0.1:");
      if (begin != line.npos) found = line.substr(begin);
    }
    return found || has_ended() || given_up();
  };
  wait_until(look, at_most);
  return found;
}

void StepProcess::interrupt() { kill(process_, SIGINT); }

bool StepProcess::wait_for_end(std::chrono::seconds at_most) {
  return wait_until([this] { return has_ended(); }, at_most);
}

std::string StepProcess::failure() const {
  if (!status_) return "did not stop, and was killed";
  const bool exited = WIFEXITED(*status_);
  if (exited && WEXITSTATUS(*status_) == 0) return "";
  std::string how = exited ? "ended with exit code " + std::to_string(WEXITSTATUS(*status_))
                           : "was ended by signal " + std::to_string(WTERMSIG(*status_));
  const std::string why = last_line(errors_);
  return why.empty() ? how : how + ": " + why;
}

}  // namespace nbody::view
