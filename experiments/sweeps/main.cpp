// sweep_programs NAME [option of a step...]   runs one of the programs
// sweep_programs --batch FILE                 runs several: a line of FILE has a name and options
// sweep_programs --list                       prints the names
//
// A batch initialises the device once for all its runs. The program prints "begin K" before the run
// of each line and "end K CODE" with the exit code after the run, on stdout and stderr. A batch
// stops after any failure, even a failed validation, because a CUDA error may persist in the
// process.
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/sweeps/programs.h"

namespace nbody::sweep {
namespace {

std::map<std::string, Main>& programs() {
  static std::map<std::string, Main> all;
  return all;
}

int usage(const std::string& text) {
  std::cerr << "sweep_programs: " << text << "; --list shows the programs\n";
  return 2;
}

int run(std::vector<std::string> words) {
  const auto program = programs().find(words.front());
  if (program == programs().end()) return usage("there is no program '" + words.front() + "'");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return program->second(static_cast<int>(words.size()), arguments.data());
}

void mark(const std::string& text) {
  std::cout << text << std::endl;
  std::cerr << text << std::endl;
}

int run_batch(const std::string& path) {
  std::ifstream file(path);
  if (!file) return usage(path + ": cannot be read");
  std::string line;
  for (int k = 0; std::getline(file, line); ++k) {
    std::istringstream text(line);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    if (words.empty()) continue;
    mark("begin " + std::to_string(k));
    const int code = run(words);
    mark("end " + std::to_string(k) + ' ' + std::to_string(code));
    if (code != 0) return code;
  }
  return 0;
}

}  // namespace

Program::Program(const char* name, Main main) { programs().emplace(name, main); }

}  // namespace nbody::sweep

int main(int argc, char** argv) {
  using namespace nbody::sweep;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "--batch") return run_batch(words[1]);
  if (words.size() == 1 && words[0] == "--list") {
    for (const auto& [name, main] : programs()) std::cout << name << '\n';
    return 0;
  }
  if (words.empty()) return usage("the name of a program is missing");
  return run(words);
}
