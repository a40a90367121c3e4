#include "io/gadget_hdf5/hdf5_access.h"

#include <array>
#include <stdexcept>

#include "nbody/error.h"

namespace nbody::hdf5 {
namespace {

// A dataset that claims more than this many times the size of its file is rejected as damaged.
constexpr std::size_t kMaxCompression = 100;

// Checks calls that fail only if the library or memory fails, never because of the user's file.
void require(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("HDF5: ") + what + " failed");
}

Handle checked(hid_t id, herr_t (*close)(hid_t), const char* what) {
  require(id >= 0, what);
  return {id, close};
}

Handle in_memory() {
  Handle access = checked(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate");
  constexpr std::size_t kGrowth = 1 << 20;
  require(H5Pset_fapl_core(access.id(), kGrowth, false) >= 0, "H5Pset_fapl_core");
  return access;
}

bool is_number(const Handle& type) {
  const H5T_class_t kind = H5Tget_class(type.id());
  return (kind == H5T_INTEGER || kind == H5T_FLOAT) && H5Tget_size(type.id()) <= 8;
}

// Returns false for a link, because HDF5 would follow a link into another file, which our checks
// have not seen.
bool is_here(const Handle& parent, const char* name) {
  H5L_info_t link;
  return has(parent, name) && H5Lget_info(parent.id(), name, &link, H5P_DEFAULT) >= 0 &&
         link.type == H5L_TYPE_HARD;
}

struct Attribute {
  Handle data, type, space;
  Attribute(const Handle& parent, const char* name)
      : data(H5Aopen(parent.id(), name, H5P_DEFAULT), H5Aclose),
        type(data ? H5Aget_type(data.id()) : -1, H5Tclose),
        space(data ? H5Aget_space(data.id()) : -1, H5Sclose) {}
  explicit operator bool() const { return type && space; }
  hssize_t count() const { return H5Sget_simple_extent_npoints(space.id()); }
  void read(const std::string& where, const char* name, hid_t memory_type, void* values) const {
    if (H5Aread(data.id(), memory_type, values) < 0)
      throw UsageError(where, ": the attribute ", name, " cannot be read");
  }
};

void write_attribute(const Handle& parent, const char* name, const Handle& space, hid_t type,
                     hid_t memory_type, const void* values) {
  const Handle attribute = checked(
      H5Acreate2(parent.id(), name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
  require(H5Awrite(attribute.id(), memory_type, values) >= 0, name);
}

Handle scalar() { return checked(H5Screate(H5S_SCALAR), H5Sclose, "H5Screate"); }

Handle list(std::size_t size) {
  const hsize_t extent = size;
  return checked(H5Screate_simple(1, &extent, nullptr), H5Sclose, "H5Screate_simple");
}

void write_values(const Handle& parent, const char* name, const Handle& space, hid_t type,
                  hid_t memory_type, const void* values) {
  const Handle data = checked(
      H5Dcreate2(parent.id(), name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose, name);
  require(H5Dwrite(data.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, name);
}

}  // namespace

bool has(const Handle& parent, const char* name) {
  return H5Lexists(parent.id(), name, H5P_DEFAULT) > 0;
}

void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

Handle open_image(const std::string& file, std::string_view bytes) {
  const Handle access = in_memory();
  // The library copies the image and never writes to `bytes`.
  require(H5Pset_file_image(access.id(), const_cast<char*>(bytes.data()), bytes.size()) >= 0,
          "H5Pset_file_image");
  Handle opened(H5Fopen("image", H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!opened) throw UsageError(file, ": HDF5 cannot open it: cut off or damaged");
  return opened;
}

Handle create_image() {
  const Handle access = in_memory();
  return checked(H5Fcreate("image", H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose,
                 "H5Fcreate");
}

std::string image_of(const Handle& file) {
  require(H5Fflush(file.id(), H5F_SCOPE_LOCAL) >= 0, "H5Fflush");
  const ssize_t size = H5Fget_file_image(file.id(), nullptr, 0);
  require(size > 0, "H5Fget_file_image");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  require(H5Fget_file_image(file.id(), bytes.data(), bytes.size()) == size, "H5Fget_file_image");
  return bytes;
}

Handle open_group(const std::string& file, const Handle& parent, const char* name) {
  Handle group(is_here(parent, name) ? H5Gopen2(parent.id(), name, H5P_DEFAULT) : -1, H5Gclose);
  if (!group) throw UsageError(file, ": HDF5 without a group /", name, ": not a Gadget snapshot");
  return group;
}

Handle create_group(const Handle& parent, const char* name) {
  return checked(H5Gcreate2(parent.id(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                 name);
}

std::vector<double> numbers(const std::string& where, const Handle& parent, const char* name,
                            std::size_t most) {
  if (H5Aexists(parent.id(), name) <= 0) return {};
  const Attribute attribute(parent, name);
  if (!attribute || !is_number(attribute.type))
    throw UsageError(where, ": the attribute ", name, " is not a number");
  const hssize_t size = attribute.count();
  if (size < 1 || static_cast<std::size_t>(size) > most)
    throw UsageError(where, ": the attribute ", name, " has ", size, " values; at most ", most,
                     " can be read");
  std::vector<double> values(static_cast<std::size_t>(size));
  attribute.read(where, name, H5T_NATIVE_DOUBLE, values.data());
  return values;
}

std::string text(const std::string& where, const Handle& parent, const char* name,
                 std::size_t most) {
  if (H5Aexists(parent.id(), name) <= 0) return {};
  const Attribute attribute(parent, name);
  const hid_t type = attribute.type.id();
  if (!attribute || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
      H5Tget_size(type) > most + 1 || attribute.count() != 1)
    throw UsageError(where, ": the attribute ", name, " is not a string of at most ", most,
                     " bytes");
  std::string value(H5Tget_size(type) + 1, '\0');
  attribute.read(where, name, type, value.data());
  return value.substr(0, value.find('\0'));
}

std::vector<double> dataset(const std::string& where, const Handle& parent, const char* name,
                            std::size_t rows, std::size_t columns, std::size_t file_bytes) {
  const std::string what = where + "/" + name;
  const Handle data(is_here(parent, name) ? H5Dopen2(parent.id(), name, H5P_DEFAULT) : -1,
                    H5Dclose);
  if (!data) throw UsageError(what, " is missing or not a dataset of this file");
  const Handle space(H5Dget_space(data.id()), H5Sclose);
  const Handle type(H5Dget_type(data.id()), H5Tclose);
  const Handle layout(H5Dget_create_plist(data.id()), H5Pclose);
  if (!space || !type || !layout || !is_number(type))
    throw UsageError(what, " does not hold numbers");

  std::array<hsize_t, H5S_MAX_RANK> extent{};
  const int rank = H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr);
  const bool fits =
      extent[0] == rows && (rank == 2 ? extent[1] == columns : rank == 1 && columns == 1);
  if (!fits)
    throw UsageError(what, " should have ", rows, " x ", columns,
                     " values for the header's number of bodies");
  if (H5Pget_layout(layout.id()) == H5D_VIRTUAL || H5Pget_external_count(layout.id()) != 0)
    throw UsageError(what, " is stored in another file; only self-contained files can be read");
  // Nothing overflows, because `rows` is below 2^32 and `columns` is at most 3.
  if (H5Dget_storage_size(data.id()) == 0 ||
      rows * columns * H5Tget_size(type.id()) > kMaxCompression * file_bytes)
    throw UsageError(what, " claims ", rows, " x ", columns,
                     " values, which this file cannot hold");
  std::vector<double> values(rows * columns);
  if (H5Dread(data.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    throw UsageError(what, " cannot be read: damaged, or compressed in an unknown way");
  return values;
}

void write_numbers(const Handle& parent, const char* name, const std::vector<double>& values) {
  write_attribute(parent, name, list(values.size()), H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                  values.data());
}

void write_integers(const Handle& parent, const char* name, const std::vector<unsigned>& values) {
  write_attribute(parent, name, list(values.size()), H5T_STD_U32LE, H5T_NATIVE_UINT, values.data());
}

void write_number(const Handle& parent, const char* name, double value) {
  write_attribute(parent, name, scalar(), H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void write_integer(const Handle& parent, const char* name, int value) {
  write_attribute(parent, name, scalar(), H5T_STD_I32LE, H5T_NATIVE_INT, &value);
}

void write_text(const Handle& parent, const char* name, const std::string& value) {
  const Handle type = checked(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy");
  require(H5Tset_size(type.id(), value.size() + 1) >= 0, "H5Tset_size");
  write_attribute(parent, name, scalar(), type.id(), type.id(), value.c_str());
}

void write_dataset(const Handle& parent, const char* name, std::size_t columns,
                   const std::vector<double>& values) {
  const std::array<hsize_t, 2> extent{values.size() / columns, columns};
  const Handle space = checked(H5Screate_simple(columns == 1 ? 1 : 2, extent.data(), nullptr),
                               H5Sclose, "H5Screate_simple");
  write_values(parent, name, space, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data());
}

void write_dataset(const Handle& parent, const char* name, const std::vector<unsigned>& values) {
  write_values(parent, name, list(values.size()), H5T_STD_U32LE, H5T_NATIVE_UINT, values.data());
}

}  // namespace nbody::hdf5
