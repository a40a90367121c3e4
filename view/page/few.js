// Extras in a picture of a few bodies: trails, names, and a body to follow.
"use strict";

const TRAIL_FRAMES = 400;

class FewBodies {
  constructor() {
    this.names = [];
    this.frames = [];     // the last positions of all bodies, oldest first
    this.followed = -1;   // the body kept in the middle; -1: none
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
    this.frames = [];
    this.followed = -1;
    const heaviest = Math.max(0, ...(info.masses || []));
    // A planet has a millionth of its star's mass, so an area or radius proportional to mass would
    // hide it.
    this.sizes = Float32Array.from(info.masses || [], (m) =>
      heaviest > 0 && m > 0 ? 0.35 + 0.65 * Math.pow(m / heaviest, 0.15) : 0.35);
    const choice = element("follow");
    choice.replaceChildren(new Option("nothing", -1), ...this.names.map((name, i) => new Option(name, i)));
    for (const id of ["follow_label", "names_label"]) element(id).hidden = count === 0;
    element("labels").replaceChildren(...this.names.map((name) => make("span", {textContent: name})));
  }

  clear() { this.frames = []; }

  setFrame(frame) {
    if (this.count === 0) return;
    this.frames.push(Float32Array.from({length: 3 * this.count}, (_, k) =>
      frame.bodies[4 * Math.floor(k / 3) + k % 3]));
    if (this.frames.length > TRAIL_FRAMES) this.frames.shift();
  }

  follow(camera) {
    const now = this.frames[this.frames.length - 1];
    if (this.followed < 0 || !now) return;
    camera.centre = [...now.subarray(3 * this.followed, 3 * this.followed + 3)];
  }

  // Returns x, y, z and age of all points of each trail. Ages run from 0 (now) to 1; positions are
  // relative to the followed body.
  trails() {
    const length = this.frames.length, points = new Float32Array(4 * length * this.count);
    const now = this.frames[length - 1], f = 3 * this.followed;
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

  // Puts each name next to its body. If two names would overlap, the later one is omitted.
  placeNames(shown, matrix, look) {
    const labels = element("labels");
    labels.hidden = !shown || this.count === 0 || this.frames.length === 0;
    if (labels.hidden) return;
    const now = this.frames[this.frames.length - 1], taken = [];
    const {clientWidth: width, clientHeight: height} = element("picture");
    [...labels.children].forEach((label, body) => {
      const [x, y] = placeInPicture(now.subarray(3 * body, 3 * body + 3), body, matrix, look) || [NaN, NaN];
      const left = Math.round((x + 1) * width / 2 + 9), top = Math.round((1 - y) * height / 2 - 9);
      const free = taken.every(([l, t]) => Math.abs(l - left) > 70 || Math.abs(t - top) > 17);
      const visible = free && left > 0 && left < width && top > 0 && top < height;  // false for NaN
      label.hidden = !visible;
      if (!visible) return;
      taken.push([left, top]);
      label.style.transform = `translate(${left}px, ${top}px)`;
    });
  }

  drawNames(context, ratio) {
    if (element("labels").hidden) return;
    for (const label of element("labels").children) {
      const place = /translate\((-?\d+)px, (-?\d+)px\)/.exec(label.style.transform);
      if (!label.hidden && place) context.fillText(label.textContent, place[1] * ratio, (Number(place[2]) + 14) * ratio);
    }
  }
}
