// Extras in a picture of a few bodies: trails, orbits, names, and a body to follow.
"use strict";

const TRAIL_FRAMES = 400;

class FewBodies {
  constructor() {
    this.names = [];
    this.measured = [];   // the last positions of all bodies, oldest first
    this.frames = [];     // the same positions in the scale that is shown
    this.followed = -1;   // the body that stays in the middle; -1: none
    this.planets = new Planets({systems: 0});
  }

  // The program sends masses only if there are few bodies.
  setInfo(info) {
    const count = (info.masses || []).length;
    this.count = count;
    this.names = Array.from({length: count}, (_, i) => {
      const body = i % info.bodies_per_system, system = Math.floor(i / info.bodies_per_system);
      const name = info.names ? info.names[body] : `body ${body + 1}`;
      return info.systems > 1 ? `${name} (${system + 1})` : name;
    });
    this.clear();
    this.followed = -1;
    this.planets = new Planets(info);
    const heaviest = Math.max(0, ...(info.masses || []));
    // A planet has a millionth of its star's mass, so if an area or radius were proportional to
    // mass, the planet would be invisible.
    this.sizes = Float32Array.from(info.masses || [], (m) =>
      heaviest > 0 && m > 0 ? 0.3 + 0.7 * Math.pow(m / heaviest, 0.15) : 0.3);
    // A star is yellow, and the other colours alternate.
    const others = COMPONENT_COLOURS.map((_, k) => k).filter((k) => k !== STAR_COLOUR);
    this.colours = Uint8Array.from({length: count}, (_, i) => {
      if (this.planets.found && this.planets.star(i) === i) return STAR_COLOUR;
      return this.planets.found ? others[i % info.bodies_per_system % others.length]
          : i % info.bodies_per_system % COMPONENT_COLOURS.length;
    });
    const choice = element("follow");
    choice.replaceChildren(new Option("nothing", -1), ...this.names.map((name, i) => new Option(name, i)));
    for (const id of ["follow_label", "names_label"]) element(id).hidden = count === 0;
    for (const id of ["orbits_label", "distances_label"]) element(id).hidden = !this.planets.found;
    element("labels").replaceChildren(...this.names.map((name) => make("span", {textContent: name})));
    this.widths = null;
  }

  // Forgets the positions of earlier frames, except for the last `kept` frames.
  clear(kept = 0) {
    this.measured = this.measured.slice(this.measured.length - kept);
    this.frames = this.frames.slice(this.frames.length - kept);
  }

  // Returns the frame's bodies in the scale that is shown. Keeps their positions for trails.
  setFrame(frame) {
    if (this.count === 0) return frame.bodies;
    const measured = Float32Array.from({length: 3 * this.count}, (_, k) =>
      frame.bodies[4 * Math.floor(k / 3) + k % 3]);
    if (this.planets.outer === undefined) this.chooseScale(measured);
    this.measured.push(measured);
    this.frames.push(this.planets.scaled(measured));
    if (this.frames.length > TRAIL_FRAMES) {
      this.frames.shift();
      this.measured.shift();
    }
    this.velocities = frame.velocities;
    return this.shown(frame.bodies);
  }

  chooseScale(measured) {
    this.planets.start(measured);
    for (const option of element("distances").options)
      option.selected = option.defaultSelected = (option.value === "logarithmic") === this.planets.logarithmic;
  }

  setLogarithmic(logarithmic) {
    this.planets.logarithmic = this.planets.found && logarithmic;
    this.frames = this.measured.map((positions) => this.planets.scaled(positions));
  }

  // Returns the name of the body from which a logarithmic scale measures distances. Returns null if
  // the scale is not logarithmic.
  get logarithmicFrom() {
    if (!this.planets.logarithmic) return null;
    return this.planets.stars.length > 1 ? "each star" : this.names[this.planets.star(0)];
  }

  get now() { return this.frames[this.frames.length - 1]; }

  // Returns x, y, z and speed of all bodies in the scale that is shown.
  shown(bodies) {
    return this.planets.logarithmic
        ? Float32Array.from(bodies, (value, k) => k % 4 < 3 ? this.now[3 * Math.floor(k / 4) + k % 4] : value) : bodies;
  }

  // Returns the middle and the radius of a planetary system with its orbits, or nothing.
  extent() {
    if (!this.planets.found || !this.now) return {};
    const centre = triple(this.now, this.planets.star(0)), places = this.names.map((_, body) => triple(this.now, body));
    for (const {points} of this.loops(true))
      for (let k = 0; k < points.length; k += 4) places.push([...points.subarray(k, k + 3)]);
    const radii = places.map((place) => distance(place, centre)).filter(Number.isFinite);
    return Math.max(...radii) > 0 ? {centre, radius: Math.max(...radii)} : {};
  }

  follow(camera) {
    if (this.followed < 0 || !this.now) return;
    camera.centre = triple(this.now, this.followed);
  }

  // Returns x, y, z and age of all points of each trail. Ages run from 0 (now) to 1; positions are
  // relative to the followed body.
  trails() {
    const length = this.frames.length, points = new Float32Array(4 * length * this.count);
    const now = this.now, f = 3 * this.followed;
    let at = 0;
    for (let body = 0; body < this.count; ++body) {
      for (let k = 0; k < length; ++k) {
        const then = this.frames[k];
        for (let axis = 0; axis < 3; ++axis) {
          const shift = f < 0 ? 0 : now[f + axis] - then[f + axis];
          points[at++] = then[3 * body + axis] + shift;
        }
        points[at++] = 1 - (k + 1) / length;
      }
    }
    return {points, length, bodies: this.count};
  }

  // Returns closed lines to draw: the orbits, if `orbits` is true, and the rings of a logarithmic scale.
  loops(orbits) {
    const positions = this.measured[this.measured.length - 1];
    if (!positions || !this.planets.found) return [];
    this.rings = this.planets.rings(positions, this.velocities);
    return [...this.rings, ...(orbits ? this.planets.orbits(positions, this.velocities) : [])];
  }

  // Puts each name next to its body, where no panel and no other name is. A name without a free
  // place is omitted.
  placeNames(shown, matrix, look, panels) {
    const labels = element("labels");
    const rings = this.planets.logarithmic ? this.rings || [] : [];
    labels.hidden = this.count === 0 || this.frames.length === 0 || (!shown && rings.length === 0);
    if (labels.hidden) return;
    this.labelRings(labels, rings);
    const {clientWidth: width, clientHeight: height} = element("picture"), taken = [...panels];
    [...labels.children].forEach((label, k) => {
      const position = k < this.count ? this.now.subarray(3 * k, 3 * k + 3) : rings[k - this.count].label;
      const wanted = k >= this.count || shown;
      const place = wanted ? placeInPicture(position, k < this.count ? k : 0, matrix, look) : null;
      const free = place ? freePlace((place[0] + 1) * width / 2, (1 - place[1]) * height / 2, this.widths[k], {width, height}, taken) : null;
      label.hidden = !free;
      if (!free) return;
      taken.push(free);
      label.style.transform = `translate(${free.left}px, ${free.top}px)`;
    });
  }

  labelRings(labels, rings) {
    while (labels.children.length > this.count + rings.length) labels.lastChild.remove();
    for (let k = labels.children.length - this.count; k < rings.length; ++k)
      labels.append(make("span", {className: "ring", textContent: rings[k].text}));
    if (this.widths && this.widths.length === labels.children.length) return;
    for (const label of labels.children) label.hidden = false;
    this.widths = [...labels.children].map((label) => label.offsetWidth);
  }

  drawNames(context, ratio) {
    if (element("labels").hidden) return;
    for (const label of element("labels").children) {
      const place = /translate\((-?\d+)px, (-?\d+)px\)/.exec(label.style.transform);
      if (!label.hidden && place) context.fillText(label.textContent, place[1] * ratio, (Number(place[2]) + 14) * ratio);
    }
  }
}

// Returns the box of a name next to this point of the picture, or null if there is no room.
function freePlace(x, y, width, picture, taken) {
  const LINE = 18, GAP = 9;
  const corners = [[x + GAP, y - LINE / 2], [x - GAP - width, y - LINE / 2], [x - width / 2, y - GAP - LINE], [x - width / 2, y + GAP]];
  for (const corner of corners) {
    const [left, top] = corner.map(Math.round), box = {left, top, right: left + width, bottom: top + LINE};
    const inside = left >= 0 && top >= 0 && box.right <= picture.width && box.bottom <= picture.height;  // false for NaN
    if (inside && !taken.some((other) => overlap(box, other))) return box;
  }
  return null;
}
