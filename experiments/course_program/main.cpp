// course_program [K [INPUT [OUTPUT]]]: reads N = 2 << K bodies of six floats each from a raw file,
// takes ten time steps, writes the result to another file, and prints the speed.
//
// Our own options follow: --json FILE writes a record with a check against float64, and --repeat R
// runs the program R times.
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "course_program.h"
#include "experiments/emulated.h"
#include "io/write_whole_file.h"
#include "nbody/error.h"
#include "run/command_line.h"
#include "run/program.h"
#include "run/result.h"

namespace {

using namespace course;

struct Options {
  int k = 11;
  std::string input, output, json;
  int repeat = 1;
};

// The positional arguments come first; the rest are options.
Options parse(int argc, char** argv) {
  Options options;
  std::vector<std::string> words;
  for (int a = 1; a < argc; ++a) {
    const std::string word = argv[a];
    const bool is_option = word == "--json" || word == "--repeat";
    if (is_option && a + 1 == argc) throw nbody::UsageError(word + ": a value is missing");
    if (word == "--json") {
      options.json = argv[++a];
    } else if (word == "--repeat") {
      const auto value = nbody::parse_whole<int>(argv[++a]);
      if (!value || *value < 1 || *value > 1000) {
        nbody::refuse(word, argv[a], "a whole number from 1 to 1000");
      }
      options.repeat = *value;
    } else if (word.starts_with("--")) {
      throw nbody::UsageError("unknown option " + word + "; allowed: --json, --repeat");
    } else {
      words.push_back(word);
    }
  }
  if (words.size() > 3)
    throw nbody::UsageError("unexpected word " + words[3] +
                            "; only K, INPUT and OUTPUT are allowed");
  if (!words.empty()) {
    const auto k = nbody::parse_whole<int>(words[0]);
    if (!k || *k < 0 || *k > 20) nbody::refuse("K", words[0], "a whole number from 0 to 20");
    options.k = *k;
  }
  if (words.size() > 1) options.input = words[1];
  if (words.size() > 2) options.output = words[2];
  return options;
}

std::vector<Body> read_bodies(const std::string& path, std::size_t n) {
  std::vector<Body> bodies(n);
  const auto bytes = static_cast<std::streamsize>(n * sizeof(Body));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw nbody::UsageError(path + ": cannot be read");
  if (!file.read(reinterpret_cast<char*>(bodies.data()), bytes) || file.peek() != EOF) {
    throw nbody::UsageError(path + ": must have " + std::to_string(bytes) +
                            " bytes, 24 for each of " + std::to_string(n) + " bodies");
  }
  return bodies;
}

// Makes bodies for a run without a file: uniform in [-1, 1), with the same bits everywhere.
std::vector<Body> made_up_bodies(std::size_t n) {
  std::mt19937 generator(1);
  std::vector<Body> bodies(n);
  for (Body& body : bodies) {
    for (float* value : {&body.x, &body.y, &body.z, &body.vx, &body.vy, &body.vz}) {
      *value = static_cast<float>(generator() >> 8) * 0x1p-23f - 1;
    }
  }
  return bodies;
}

void write_record(const std::string& path, const std::vector<Body>& start,
                  const std::vector<double>& seconds) {
  nbody::Result result;
  result.info = {.name = "course_program", .parent = ""};
  result.platform = platform();
  result.systems = 1;
  result.bodies_per_system = static_cast<int>(start.size());
  result.steps = kSteps;
  result.dt = kTimeStep;
  result.softening = std::sqrt(static_cast<double>(kSofteningSquared));
  result.scenario = "uniform cube";
  for (const double time : seconds) result.repeats.push_back({.compute = time, .total = time});
  result.validation = {{check(start)}};
  nbody::write_whole_file(path, [&](std::ostream& out) { out << nbody::to_json(result) << '\n'; });
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const std::size_t n = std::size_t{2} << options.k;
  const auto start = options.input.empty() ? made_up_bodies(n) : read_bodies(options.input, n);
  std::vector<Body> bodies;
  std::vector<double> seconds;
  for (int repeat = 0; repeat < options.repeat; ++repeat) {
    bodies = start;
    seconds.push_back(simulate(bodies, kSteps));
  }
  if (!options.output.empty()) {
    nbody::write_whole_file(options.output, [&](std::ostream& out) {
      out.write(reinterpret_cast<const char*>(bodies.data()),
                static_cast<std::streamsize>(n * sizeof(Body)));
    });
  }
  if (!options.json.empty()) write_record(options.json, start, seconds);
  const double pairs = static_cast<double>(n) * static_cast<double>(n);
  std::printf("%0.3f Billion Interactions / second%s\n", 1e-9 * pairs * kSteps / seconds.back(),
              experiments::emulated_mark(platform()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::run_program("course_program", [&] { return run(argc, argv); });
}
