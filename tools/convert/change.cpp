#include "change.h"

#include <algorithm>
#include <cmath>

#include "support/text.h"

namespace nbody::convert {
namespace {

template <typename AnyBody>
Centre centre(std::span<const AnyBody> bodies) {
  Centre sum;
  for (const AnyBody& body : bodies) sum.mass += body.mass;
  double weights = 0;
  for (const AnyBody& body : bodies) {
    const double weight = sum.mass > 0 ? body.mass : 1;
    sum.position += weight * Vector3{body.x, body.y, body.z};
    sum.velocity += weight * Vector3{body.vx, body.vy, body.vz};
    weights += weight;
  }
  sum.position = (1 / weights) * sum.position;
  sum.velocity = (1 / weights) * sum.velocity;
  return sum;
}

BodyF64 moved(const BodyF64& body, const Centre& from) {
  return {body.x - from.position.x,
          body.y - from.position.y,
          body.z - from.position.z,
          body.vx - from.velocity.x,
          body.vy - from.velocity.y,
          body.vz - from.velocity.z,
          body.mass};
}

void move_system(Snapshot& snapshot, int s) {
  const std::span<Body> bodies = snapshot.systems.system(s);
  if (snapshot.exact.empty()) {
    const Centre from = centre_of(bodies);
    for (Body& body : bodies) body = rounded(moved(widened(body), from));
    return;
  }
  const std::span<BodyF64> exact =
      std::span(snapshot.exact).subspan(static_cast<std::size_t>(s) * bodies.size(), bodies.size());
  const Centre from = centre_of(exact);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    exact[i] = moved(exact[i], from);
    bodies[i] = rounded(exact[i]);
  }
}

// Rounds a float32 to nine digits, as a CSV file stores it.
double in_nine_digits(float value) { return *parse_whole<double>(in_digits(value, 9)); }

// True if the float64 value adds no digits to the float32 value. Tolerates the error of about 1e-16
// that a conversion to other units and back causes.
bool says_no_more(double exact, float value) {
  return std::abs(exact - static_cast<double>(value)) <= 1e-15 * std::abs(exact) ||
         exact == in_nine_digits(value);
}

}  // namespace

Centre centre_of(std::span<const Body> bodies) { return centre(bodies); }
Centre centre_of(std::span<const BodyF64> bodies) { return centre(bodies); }

void move_to_centre(Snapshot& snapshot) {
  for (int s = 0; s < snapshot.systems.count; ++s) move_system(snapshot, s);
}

void drop_needless_float64(Snapshot& snapshot) {
  const auto same = [](const BodyF64& a, const Body& b) {
    return says_no_more(a.x, b.x) && says_no_more(a.y, b.y) && says_no_more(a.z, b.z) &&
           says_no_more(a.vx, b.vx) && says_no_more(a.vy, b.vy) && says_no_more(a.vz, b.vz) &&
           says_no_more(a.mass, b.mass);
  };
  if (std::equal(snapshot.exact.begin(), snapshot.exact.end(), snapshot.systems.bodies.begin(),
                 snapshot.systems.bodies.end(), same))
    snapshot.exact.clear();
}

}  // namespace nbody::convert
