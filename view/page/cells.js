// The cells of an octree over the bodies: a cube around all bodies is divided into eight cubes, and
// each of these again, until a cube has few bodies. Step 15's tree has the same cubes: the keys of the
// bodies in a cube begin with the same bits, three bits for each level of cubes.
"use strict";

const LEAF_SIZE = 16, LAST_LEVEL = 21;  // as in step 15
const DRAWN_CELLS = 5000;

class CellTree {
  // Takes `count` bodies of a frame (four numbers each), starting with body `first`. Without
  // masses, all bodies weigh the same. Bodies with non-finite positions belong to no cell.
  constructor(bodies, first, count, masses) {
    this.bodies = bodies;
    this.masses = masses;
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    this.order = Int32Array.from({length: count}, (_, k) => first + k)
        .filter((i) => Number.isFinite(bodies[4 * i] + bodies[4 * i + 1] + bodies[4 * i + 2]));
    for (const i of this.order) {
      for (let axis = 0; axis < 3; ++axis) {
        low[axis] = Math.min(low[axis], bodies[4 * i + axis]);
        high[axis] = Math.max(high[axis], bodies[4 * i + axis]);
      }
    }
    const side = Math.max(0, ...high.map((x, axis) => x - low[axis]));
    this.root = this.order.length > 0 ? this.cell(low, side, 0, 0, this.order.length) : null;
  }

  // Returns the cell that contains bodies begin to end - 1 of `order`.
  cell(low, side, level, begin, end) {
    const cell = {low, side, level, begin, end, children: []};
    if (end - begin > LEAF_SIZE && level < LAST_LEVEL) {
      const half = side / 2, middle = low.map((x) => x + half), octants = Array.from({length: 8}, () => []);
      for (let k = begin; k < end; ++k) {
        const i = this.order[k];
        octants[[0, 1, 2].reduce((sum, axis) => sum | (this.bodies[4 * i + axis] >= middle[axis]) << axis, 0)].push(i);
      }
      octants.forEach((members, octant) => {
        if (members.length === 0) return;
        this.order.set(members, begin);
        const corner = low.map((x, axis) => x + (octant >> axis & 1) * half);
        cell.children.push(this.cell(corner, half, level + 1, begin, begin + members.length));
        begin += members.length;
      });
    }
    this.weigh(cell);
    return cell;
  }

  // Finds the centre of mass, and a radius that contains all bodies of the cell.
  weigh(cell) {
    const parts = cell.children.length > 0 ? cell.children
        : Array.from(this.order.subarray(cell.begin, cell.end), (i) => (
          {mass: this.masses ? this.masses[i] : 1, centre: this.position(i), radius: 0}));
    cell.mass = parts.reduce((sum, part) => sum + part.mass, 0);
    cell.centre = [0, 1, 2].map((axis) => cell.mass === 0 ? parts[0].centre[axis]
        : parts.reduce((sum, part) => sum + part.mass * part.centre[axis], 0) / cell.mass);
    cell.radius = Math.max(...parts.map((part) => part.radius + distance(part.centre, cell.centre)));
  }

  position(body) { return [...this.bodies.subarray(4 * body, 4 * body + 3)]; }

  // Returns the cells of a level and the leaves above it, which together contain every body.
  level(level) {
    const found = [], visit = (cell) => {
      if (cell.level === level || cell.children.length === 0) found.push(cell);
      else cell.children.forEach(visit);
    };
    if (this.root) visit(this.root);
    return found;
  }

  cube(cell) { return {low: cell.low, high: cell.low.map((x) => x + cell.side)}; }

  // Returns a box around a cell's bodies, with a margin so that a single body is visible.
  box(cell) {
    const places = Array.from(this.order.subarray(cell.begin, cell.end), (i) => this.position(i)), margin = this.root.side / 2000;
    return {low: [0, 1, 2].map((axis) => Math.min(...places.map((x) => x[axis])) - margin),
            high: [0, 1, 2].map((axis) => Math.max(...places.map((x) => x[axis])) + margin)};
  }

  // Returns the sources for a body: cells that act as one body, and opened leaves.
  seenBy(body, theta) {
    const whole = [], opened = [], place = this.position(body), visit = (cell) => {
      if (cell.radius < theta * distance(cell.centre, place)) whole.push(cell);
      else if (cell.children.length === 0) opened.push(cell);
      else cell.children.forEach(visit);
    };
    if (this.root) visit(this.root);
    return {whole, opened};
  }
}

const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

const bodiesOf = (cells) => cells.reduce((sum, cell) => sum + cell.end - cell.begin, 0);

// Returns the twelve edges of each box as pairs of points. Each point gets the age `faint`: as in
// trails, older points are drawn fainter.
function edgesOf(boxes, faint) {
  const points = [];
  for (const {low, high} of boxes) {
    const corner = (k) => [0, 1, 2].map((axis) => k >> axis & 1 ? high[axis] : low[axis]);
    for (let k = 0; k < 8; ++k)
      for (let axis = 0; axis < 3; ++axis)
        if (!(k >> axis & 1)) points.push(...corner(k), faint, ...corner(k | 1 << axis), faint);
  }
  return Float32Array.from(points);
}

const WHOLE_COLOUR = COMPONENT_COLOURS[0], OPENED_COLOUR = COMPONENT_COLOURS[1], BODY_COLOUR = COMPONENT_COLOURS[6];

class Cells {
  constructor() {
    this.body = 0;     // the body that was picked last
    this.drawn = [];   // {system, points, colour}
    this.key = null;   // identifies the choice and frame that were drawn
  }

  get choice() { return element("cells").value; }  // "none", "body" or a level

  // Builds trees immediately if the choice is new. If only the frame is new, waits until ten times
  // the duration of the last build has passed.
  update(frame, info, now) {
    const {choice} = this, theta = Number(element("theta").value);
    element("theta_label").hidden = choice !== "body";
    element("cells_text").hidden = choice === "none";
    if (choice === "none") this.drawn = [];
    const asked = `${choice} ${theta} ${this.body}`;
    const key = `${frame.step} ${asked}`;
    if (choice === "none" || key === this.key || (asked === this.asked && now < this.next)) return;
    [this.key, this.asked] = [key, asked];
    const per_system = Math.min(frame.count, Math.ceil(info.bodies_per_system / info.shown_every));
    const tree = (system) => new CellTree(frame.bodies, system * per_system,
        Math.min(per_system, frame.count - system * per_system), info.masses);
    if (choice === "body") this.see(tree, Math.floor(this.body / per_system), theta, per_system);
    else this.divide(Array.from({length: Math.ceil(frame.count / per_system)}, (_, system) => tree(system)), Number(choice));
    this.next = now + 10 * (performance.now() - now);
  }

  see(tree, system, theta, bodies) {
    const one = tree(system), {whole, opened} = one.seenBy(this.body, theta);
    const place = one.position(this.body), half = one.root ? one.root.side / 400 : 0;
    const mark = {low: place.map((x) => x - half), high: place.map((x) => x + half)};
    const boxes = (cells) => cells.map((cell) => one.box(cell));
    this.drawn = [[boxes(whole), WHOLE_COLOUR, 0.3], [boxes(opened), OPENED_COLOUR, 0], [[mark], BODY_COLOUR, -2]].map(
        ([drawn, colour, faint]) => ({system, points: edgesOf(drawn, faint), colour}));
    show("cells_text", `with theta ${theta}, the white body (one of ${count(bodies)}) sees ${count(whole.length)} cells as one body each (blue) and ` +
        `${count(bodiesOf(opened))} bodies in ${count(opened.length)} opened leaves (orange); click on another body to choose that one`);
  }

  divide(trees, level) {
    const levels = trees.map((tree) => tree.level(level)), total = levels.reduce((sum, cells) => sum + cells.length, 0);
    this.drawn = levels.map((cells, system) => (
      {system, points: edgesOf(cells.slice(0, DRAWN_CELLS / levels.length).map(
          (cell) => trees[system].cube(cell)), 0.6), colour: WHOLE_COLOUR}));
    show("cells_text", total > DRAWN_CELLS ? `${count(total)} cells: the first ${count(DRAWN_CELLS)} are drawn`
        : `${count(total)} cells with bodies in them`);
  }

  // Returns the body nearest to a point of the picture, from -1 to 1 in x and y.
  pick(x, y, aspect, frame, matrix, look) {
    let nearest = Infinity;
    for (let body = 0; body < frame.count; ++body) {
      const place = placeInPicture(frame.bodies.subarray(4 * body, 4 * body + 3), body, matrix, look);
      const away = place ? Math.hypot((place[0] - x) * aspect, place[1] - y) : Infinity;
      if (away < nearest) [nearest, this.body] = [away, body];
    }
  }
}
