// Planetary systems: a logarithmic scale of distances, and the ellipses on which bodies move.
"use strict";

const ORBIT_POINTS = 192;
// If the largest distance is more than this many times the smallest one, a true scale hides the
// inner bodies.
const WIDE_RATIO = 12;
const MOST_RINGS = 4;

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => a.map((x) => x / Math.hypot(...a));
const triple = (values, k) => Array.from(values.subarray(3 * k, 3 * k + 3));

class Planets {
  // `found` is true if, in every system, one body has more than ten times the mass of all others
  // together.
  constructor({masses, systems, bodies_per_system: bodies, length_unit: lengthUnit}) {
    this.masses = masses || [];
    this.bodies = bodies;
    this.lengthUnit = lengthUnit || {name: "length units", size: 1};
    this.logarithmic = false;
    const inSystem = (s) => this.masses.slice(s * bodies, (s + 1) * bodies);
    this.stars = masses ? Array.from({length: systems}, (_, s) => s * bodies + inSystem(s).indexOf(Math.max(...inSystem(s)))) : [];
    this.found = bodies > 1 && this.stars.length > 0 && this.stars.every((star, s) =>
      this.masses[star] > 10 / 11 * inSystem(s).reduce((sum, m) => sum + m, 0));
  }

  star(body) { return this.stars[Math.floor(body / this.bodies)]; }

  // Chooses the scale from the bodies' distances to their stars in the first frame.
  start(positions) {
    const distances = this.found ? this.masses.map((_, body) =>
      Math.hypot(...this.fromStar(positions, body))).filter((r) => r > 0 && Number.isFinite(r)) : [];
    [this.inner, this.outer] = [Math.min(...distances), Math.max(...distances)];
    this.isWide = distances.length > 1 && this.outer > WIDE_RATIO * this.inner;
    this.logarithmic = this.isWide;
  }

  fromStar(positions, body) {
    const star = this.star(body);
    return [0, 1, 2].map((axis) => positions[3 * body + axis] - positions[3 * star + axis]);
  }

  // Returns a place, relative to its star, in the scale that is shown. The outermost body stays where it is.
  stretched(place) {
    const r = Math.hypot(...place), near = 0.3 * this.inner;
    if (!this.logarithmic || !(r > 0)) return place;
    const factor = this.outer * Math.log1p(r / near) / (r * Math.log1p(this.outer / near));
    return place.map((x) => factor * x);
  }

  // Returns all bodies' positions in the scale that is shown.
  scaled(positions) {
    if (!this.logarithmic) return positions;
    return Float32Array.from(this.masses.flatMap((_, body) =>
      this.at(positions, this.star(body), this.fromStar(positions, body))));
  }

  at(positions, star, place) {
    return this.stretched(place).map((x, axis) => positions[3 * star + axis] + x);
  }

  // Returns the heavier body that a body orbits: the one with the strongest tide, which for a moon
  // is its planet.
  primary(positions, body) {
    const tide = (other) => this.masses[other] > this.masses[body] && this.star(other) === this.star(body)
        ? this.masses[other] / Math.pow(distance(triple(positions, other), triple(positions, body)), 3) : 0;
    const tides = this.masses.map((_, other) => tide(other)), strongest = Math.max(...tides);
    return strongest > 0 ? tides.indexOf(strongest) : -1;
  }

  // Returns, for each bound body, the ellipse on which it would move around its primary if
  // there were no other bodies. Like the points of a trail, the ellipse's points have an age.
  orbits(positions, velocities) {
    const loops = [];
    if (!this.found || !velocities) return loops;
    this.masses.forEach((mass, body) => {
      const other = this.primary(positions, body);
      if (other < 0) return;
      const relative = (values) => triple(values, body).map((x, axis) => x - values[3 * other + axis]);
      const ellipse = ellipseOf(relative(positions), relative(velocities), mass + this.masses[other]);
      if (!ellipse) return;
      const star = this.star(body), base = this.fromStar(positions, other);
      loops.push({body, points: loopOf((turn) =>
        this.at(positions, star, ellipse(turn).map((x, axis) => base[axis] + x)))});
    });
    return loops;
  }

  // Returns circles at round distances from the first star, each with a text that states its radius.
  // The circles replace the scale bar.
  rings(positions, velocities) {
    if (!this.logarithmic) return [];
    const [star] = this.stars, {name, size} = this.lengthUnit, found = [];
    const moments = this.masses.slice(0, this.bodies).map((mass, body) => velocities
        ? cross(this.fromStar(positions, body), this.fromStar(velocities, body)).map((x) => mass * x) : [0, 0, 1]);
    const normal = unit([0, 1, 2].map((axis) => moments.reduce((sum, moment) => sum + moment[axis], 0)));
    const right = unit(cross(Math.abs(normal[2]) < 0.9 ? [0, 0, 1] : [0, 1, 0], normal)), up = cross(normal, right);
    const first = Math.ceil(Math.log10(this.inner * size)), last = Math.floor(Math.log10(1.2 * this.outer * size));
    for (let power = first; power <= last; power += Math.ceil((last - first + 1) / MOST_RINGS)) {
      const radius = Math.pow(10, power) / size;
      const place = (turn) => this.at(positions, star, right.map((x, axis) => radius * (x * Math.cos(turn) + up[axis] * Math.sin(turn))));
      found.push({body: -1, text: `${number(Math.pow(10, power), 1)} ${name}`, label: place(-0.6), points: loopOf(place)});
    }
    return found;
  }
}

// Returns the points of a closed line, from a function of the angle.
function loopOf(place) {
  const points = new Float32Array(4 * (ORBIT_POINTS + 1));
  for (let k = 0; k <= ORBIT_POINTS; ++k) points.set([...place(2 * Math.PI * k / ORBIT_POINTS), 0.45], 4 * k);
  return points;
}

// Returns a function from the eccentric anomaly to the place on the ellipse through r with velocity
// v, or null if the body is not bound or falls along a line. `gm` is G times both masses.
function ellipseOf(r, v, gm) {
  const h = cross(r, v), length = Math.hypot(...r), twist = cross(v, h);
  const a = 1 / (2 / length - v.reduce((sum, x) => sum + x * x, 0) / gm);
  const e = r.map((x, axis) => twist[axis] / gm - x / length), eccentricity = Math.hypot(...e);
  if (!(a > 0 && Number.isFinite(a) && eccentricity < 1 && Math.hypot(...h) > 0)) return null;
  const p = unit(eccentricity > 1e-6 ? e : r), q = cross(unit(h), p), b = a * Math.sqrt(1 - eccentricity * eccentricity);
  return (turn) => p.map((x, axis) => a * (Math.cos(turn) - eccentricity) * x + b * Math.sin(turn) * q[axis]);
}
