// nbody-stairs -- simulates the same bodies with different steps. Buttons in a browser switch
// between the steps.
//
// Run: nbody-stairs STATE.csv PROGRAM...   (./nbody view --stairs makes the state)
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "nbody/error.h"
#include "run/command_line.h"
#include "run/program.h"
#include "stairs.h"

namespace {

int run(int argc, char** argv) {
  std::string state;
  std::vector<std::string> programs;
  std::optional<int> port;
  nbody::CommandLine line(
      "nbody-stairs", "Simulates the same bodies with several steps; a browser selects the step.");
  line.word("STATE", state, "CSV file of initial bodies; other files are written to its directory");
  line.words("PROGRAM", programs, "steps, in the order of their buttons");
  line.whole("--port", port, 0, 65535, "port on 127.0.0.1 for the page; 0: any free port [8765]");
  if (!line.parse(argc, argv)) return nbody::kSuccess;
  for (const std::string& file : programs)
    if (!std::filesystem::is_regular_file(file))
      nbody::refuse("PROGRAM", file, "the program of a step");
  if (!std::filesystem::is_regular_file(state)) nbody::refuse("STATE", state, "a file of bodies");
  nbody::view::run_stairs(port.value_or(8765), {programs.begin(), programs.end()}, state,
                          std::cout);
  return nbody::kSuccess;
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::run_program("nbody-stairs", [&] { return run(argc, argv); });
}
