// Finds the part of the picture that no panel covers, so that bodies are shown there.
"use strict";

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// Returns, as {left, top, right, bottom}, the rectangle that overlaps no box and whose shorter side
// is as long as possible. Tries all rectangles whose edges are edges of the picture or of boxes.
function freeRectangle(width, height, boxes) {
  const whole = {left: 0, top: 0, right: width, bottom: height};
  const shorter = (one) => Math.min(one.right - one.left, one.bottom - one.top);
  const area = (one) => (one.right - one.left) * (one.bottom - one.top);
  let best = {...whole, right: 0, bottom: 0};
  for (const left of [0, ...boxes.map((box) => box.right)])
    for (const right of [width, ...boxes.map((box) => box.left)])
      for (const top of [0, ...boxes.map((box) => box.bottom)])
        for (const bottom of [height, ...boxes.map((box) => box.top)]) {
          const one = {left, top, right, bottom}, gain = shorter(one) - shorter(best);
          if (shorter(one) <= 0 || gain < 0 || (gain === 0 && area(one) <= area(best))) continue;
          if (!boxes.some((box) => overlap(one, box))) best = one;
        }
  return shorter(best) > 0 ? best : whole;
}

// Calls `changed` with the free rectangle and the panels' boxes whenever one of these panels or the
// window changes its size.
class FreePart {
  constructor(panels, changed) {
    this.panels = panels;
    this.changed = changed;
    const observer = new ResizeObserver(() => this.measure());
    for (const panel of [document.body, ...panels]) observer.observe(panel);
    this.measure();
  }

  measure() {
    const {clientWidth: width, clientHeight: height} = document.documentElement;
    this.boxes = this.panels.filter((panel) => panel.getClientRects().length > 0)
        .map((panel) => panel.getBoundingClientRect())
        .filter((box) => box.width * box.height < width * height / 3);  // ignores a menu that covers much of a phone's screen
    this.changed(freeRectangle(width, height, this.boxes), width, height);
  }
}
