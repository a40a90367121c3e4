// The same bodies, computed by one step after the other: a page with a button for each, and beside
// it how fast the step was and what became of the energy. Each runs as a program of its own, with a
// view that only this one looks at; a step that is stopped leaves its bodies to the next in a file.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <vector>

namespace nbody::view {

class Stairs {
 public:
  // `state` is the file that the first one starts from; its folder takes the files of the others.
  // Throws UsageError if the port cannot be used.
  Stairs(int port, const std::vector<std::filesystem::path>& programs,
         const std::filesystem::path& state);
  ~Stairs();

  // Until Ctrl-C.
  void run(std::ostream& out);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nbody::view
