// A short way from arrays of PyTorch and CuPy to the library. The long way, nbody_steps/devices.py,
// also reports what is wrong with an argument, but takes longer than a small kernel. If the short
// way finds anything unusual, it returns None, and Python uses devices.py instead.
#include <algorithm>
#include <utility>

#include "extension.h"

namespace nb = nanobind;

namespace {

using nbody::library::Quantity;

// The names of the attributes that this file reads.
struct Names {
  nb::str is_cuda = name("is_cuda"), get_device = name("get_device"), dtype = name("dtype"),
          shape = name("shape"), is_contiguous = name("is_contiguous"), data_ptr = name("data_ptr"),
          new_empty = name("new_empty"), data = name("data"), ptr = name("ptr"),
          device_id = name("device_id");
  static nb::str name(const char* text) {
    return nb::steal<nb::str>(PyUnicode_InternFromString(text));
  }
};
const Names& names() {
  static const Names* const names = new Names;  // lives as long as the interpreter
  return *names;
}

nb::object checked(PyObject* found) {
  if (found == nullptr) throw nb::python_error();
  return nb::steal(found);
}
nb::object get(nb::handle object, nb::handle name) {
  return checked(PyObject_GetAttr(object.ptr(), name.ptr()));
}
nb::object ask(nb::handle object, const nb::str& method) {
  return checked(PyObject_CallMethodNoArgs(object.ptr(), method.ptr()));
}
std::uintptr_t address_in(const nb::object& number) {
  const std::size_t address = PyLong_AsSize_t(number.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return address;
}

// An array library, PyTorch or CuPy, with those of its functions that a call needs.
struct Way {
  bool is_torch;
  nb::handle type, float32, float64;
  nb::handle stream;      // a function that takes the device's number
  nb::handle current;     // CuPy: a function that returns the current device
  nb::handle empty;       // CuPy: makes an array; PyTorch: makes an array like another
  nb::handle contiguous;  // CuPy: the name of the attribute that tells whether an array is
  nb::handle last;        // see settings_for
};

struct Found {
  std::uintptr_t address = 0;
  Py_ssize_t rows = 0;
  long number = -1;
  nb::object dtype;
};

// Returns false for an array that is not on a device, not contiguous, or without `width` numbers
// per row.
bool look(const Way& way, nb::handle array, Py_ssize_t width, Found& found) {
  if (Py_TYPE(array.ptr()) != reinterpret_cast<PyTypeObject*>(way.type.ptr())) return false;
  const Names& n = names();
  if (way.is_torch) {
    if (get(array, n.is_cuda).ptr() != Py_True || ask(array, n.is_contiguous).ptr() != Py_True)
      return false;
    found.number = PyLong_AsLong(ask(array, n.get_device).ptr());
    found.address = address_in(ask(array, n.data_ptr));
  } else {
    if (get(array, way.contiguous).ptr() != Py_True) return false;
    const nb::object data = get(array, n.data);
    found.number = PyLong_AsLong(get(data, n.device_id).ptr());
    found.address = address_in(get(data, n.ptr));
  }
  found.dtype = get(array, n.dtype);
  const nb::object shape = get(array, n.shape);
  if (!PyTuple_Check(shape.ptr()) || PyTuple_GET_SIZE(shape.ptr()) != (width == 1 ? 1 : 2))
    return false;
  if (width > 1 && PyLong_AsSsize_t(PyTuple_GET_ITEM(shape.ptr(), 1)) != width) return false;
  found.rows = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape.ptr(), 0));
  return found.address != 0 && found.rows > 0 && found.number >= 0;
}

bool is_like(const Found& other, const Found& positions) {
  return other.number == positions.number && other.dtype.is(positions.dtype);
}

// True if the value of an option cannot change while the object stays the same.
bool is_constant(nb::handle option) {
  return option.is_none() || PyBool_Check(option.ptr()) || PyLong_CheckExact(option.ptr()) ||
         PyFloat_CheckExact(option.ptr()) || PyUnicode_CheckExact(option.ptr());
}
bool are_same(nb::handle options, nb::handle others) {
  const Py_ssize_t count = PyTuple_GET_SIZE(options.ptr());
  bool same = PyTuple_GET_SIZE(others.ptr()) == count;
  for (Py_ssize_t k = 0; same && k < count; ++k)
    same = PyTuple_GET_ITEM(options.ptr(), k) == PyTuple_GET_ITEM(others.ptr(), k);
  return same;
}

// Returns the settings of a call. `last` is a list with the options and the settings of the last
// call, because checking options takes as long as the launch of a kernel. In each call of a loop
// the options are the same objects, so pointers are compared.
Settings settings_for(const nb::tuple& options, nb::handle make, nb::list last) {
  if (last.size() == 2 && are_same(last[0], options)) return nb::cast<Settings>(last[1]);
  const nb::object settings = make(*options);
  last.clear();
  if (std::all_of(options.begin(), options.end(), is_constant)) {
    last.append(options);
    last.append(settings);
  }
  return nb::cast<Settings>(settings);
}

// `settings` is a function that makes settings from the options.
nb::object sum_there(const nb::tuple& library, bool is_potential, nb::handle positions,
                     nb::handle masses, nb::handle targets, nb::handle softening,
                     const nb::tuple& options, nb::handle settings) {
  const auto part = [&](Py_ssize_t k) { return nb::handle(PyTuple_GET_ITEM(library.ptr(), k)); };
  const Way way{part(0).ptr() == Py_True,
                part(1),
                part(2),
                part(3),
                part(4),
                part(5),
                part(6),
                part(7),
                part(8)};
  Found x, m, at;
  if (!PyFloat_Check(softening.ptr()) && !PyLong_Check(softening.ptr())) return nb::none();
  const double eps = PyFloat_AsDouble(softening.ptr());
  if (PyErr_Occurred() != nullptr) PyErr_Clear();  // the integer was too large, so eps is -1
  if (!(eps >= 0 && eps <= nbody::library::kLargest)) return nb::none();
  if (!look(way, positions, 3, x) || !look(way, masses, 1, m)) return nb::none();
  if (!is_like(m, x) || m.rows != x.rows) return nb::none();
  const bool is_single = x.dtype.is(way.float32);
  if (!is_single && !x.dtype.is(way.float64)) return nb::none();
  if (!targets.is_none() && !(look(way, targets, 3, at) && is_like(at, x))) return nb::none();
  const Py_ssize_t rows = targets.is_none() ? x.rows : at.rows;
  const nb::tuple shape = is_potential ? nb::make_tuple(rows) : nb::make_tuple(rows, 3);
  const auto number = static_cast<int>(x.number);
  const nb::int_ device(number);
  nb::object stream = checked(PyObject_CallOneArg(way.stream.ptr(), device.ptr())), out;
  if (way.is_torch && !is_potential) {  // faster than new_empty
    out = checked(
        PyObject_CallOneArg(way.empty.ptr(), (targets.is_none() ? positions : targets).ptr()));
  } else if (way.is_torch) {
    out = checked(PyObject_CallMethodOneArg(positions.ptr(), names().new_empty.ptr(), shape.ptr()));
  } else {
    const nb::object current = checked(PyObject_CallNoArgs(way.current.ptr()));
    if (PyLong_AsLong(current.ptr()) != number) return nb::none();
    stream = get(stream, names().ptr);
    out =
        checked(PyObject_CallFunctionObjArgs(way.empty.ptr(), shape.ptr(), x.dtype.ptr(), nullptr));
  }
  const std::uintptr_t to = way.is_torch ? address_in(ask(out, names().data_ptr))
                                         : address_in(get(get(out, names().data), names().ptr));
  const auto count = [](Py_ssize_t rows) { return static_cast<std::size_t>(rows); };
  const Settings found = settings_for(options, settings, nb::borrow<nb::list>(way.last));
  (is_single ? sum_on<float>
             : sum_on<double>)(number, is_potential ? Quantity::potential : Quantity::accelerations,
                               {count(x.rows), x.address, 0, m.address},
                               {count(at.rows), at.address, 0, 0}, eps, found, to,
                               address_in(stream));
  return out;
}

}  // namespace

void bind_short_way(nb::module_& module) {
  module.def("sum_there", &sum_there, nb::arg("library"), nb::arg("is_potential"),
             nb::arg("positions"), nb::arg("masses"), nb::arg("targets").none(),
             nb::arg("softening"), nb::arg("options"), nb::arg("settings"));
}
