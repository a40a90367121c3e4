// Wraps HDF5's C library: handles are closed at the end of their scope, and errors become
// UsageErrors.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nbody::hdf5 {

class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Keeps the library from printing an error stack for every failed call, because our messages have
// only one line.
void silence();

// Opens an HDF5 file in memory; `bytes` is its whole content. Throws UsageError.
Handle open_image(const std::string& file, std::string_view bytes);
// Creates a file in memory; once the file is complete, image_of() returns its bytes.
Handle create_image();
std::string image_of(const Handle& file);

bool has(const Handle& parent, const char* name);
// If the group is missing, throws a UsageError with the names of `file` and of the group.
Handle open_group(const std::string& file, const Handle& parent, const char* name);
Handle create_group(const Handle& parent, const char* name);

// Reads an attribute: at most `most` numbers, or a string of at most `most` bytes. Returns an empty
// value if the attribute is missing. Messages begin with `where`. Throws UsageError for an
// attribute of another kind.
std::vector<double> numbers(const std::string& where, const Handle& parent, const char* name,
                            std::size_t most);
std::string text(const std::string& where, const Handle& parent, const char* name,
                 std::size_t most);

// Reads a dataset of rows x columns numbers (a list if columns is 1). Throws UsageError unless the
// dataset has exactly that shape, holds numbers, and lies in the file itself; all of this is
// checked before memory is allocated or numbers are read. `file_bytes` limits the size of a
// compressed dataset.
std::vector<double> dataset(const std::string& where, const Handle& parent, const char* name,
                            std::size_t rows, std::size_t columns, std::size_t file_bytes);

void write_numbers(const Handle& parent, const char* name, const std::vector<double>& values);
void write_integers(const Handle& parent, const char* name, const std::vector<unsigned>& values);
void write_number(const Handle& parent, const char* name, double value);
void write_integer(const Handle& parent, const char* name, int value);
void write_text(const Handle& parent, const char* name, const std::string& value);
void write_dataset(const Handle& parent, const char* name, std::size_t columns,
                   const std::vector<double>& values);
void write_dataset(const Handle& parent, const char* name, const std::vector<unsigned>& values);

}  // namespace nbody::hdf5
