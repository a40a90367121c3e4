// What the readers and writers of the three formats share. Private to the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "nbody/input_output.h"

namespace nbody::formats {

// Every reader takes the name of the file, for its messages, and the whole content.
Snapshot read_csv(const std::string& file, std::string_view text, const ReadOptions& options);
Snapshot read_bin(const std::string& file, std::string_view bytes, const ReadOptions& options);
Snapshot read_raw(const std::string& file, std::string_view bytes, const ReadOptions& options);

// Every writer has checked what its format cannot hold before it writes the first byte.
void write_csv(std::ostream& out, const std::string& file, const Snapshot& snapshot);
void write_bin(std::ostream& out, const std::string& file, const Snapshot& snapshot);
void write_raw(std::ostream& out, const std::string& file, const Snapshot& snapshot);

bool is_bin(std::string_view head);
// Throws unless the header at the start of `head` is sound and describes a file of exactly `size`
// bytes. Asked before the rest of the file is read, so that a lying header allocates nothing.
void check_bin_header(const std::string& file, std::string_view head, std::uint64_t size);

// Throws unless a raw file can have that many bytes.
void check_raw_size(const std::string& file, std::uint64_t size);

struct Shape {
  int systems;
  int bodies;
};
// Cuts `total` bodies as the file (when it knows) and the options say. Throws UsageError.
Shape shape_of(const std::string& file, std::uint64_t total, std::optional<int> systems_in_file,
               const ReadOptions& options);

// Throws unless all seven values are finite and the mass is not negative. `index` counts from 0
// over all systems. CSV does not use it: there, the line is the better address.
void check_body(const std::string& file, std::size_t index, const Body& body);

// The shortest digits that mean this number and no other, for messages: to_string would show a mass
// of 1e-9 as 0.000000.
std::string digits(double value);
std::string digits(float value);

// Throws unless `text` is one printable line that fits the fields of the BIN header.
void check_text(const std::string& where, std::string_view key, std::string_view text);

// Throws std::invalid_argument for a Snapshot that contradicts itself.
void check_snapshot(const Snapshot& snapshot);

}  // namespace nbody::formats
