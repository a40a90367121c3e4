// Draws the threads of a block against the phases between its barriers.
"use strict";

// The colour map Viridis, whose lightness changes evenly for any kind of colour vision.
const COLOURS = [[253, 231, 37], [122, 209, 81], [34, 168, 132], [42, 120, 142], [65, 68, 135], [68, 1, 84]];
const MARGIN = {left: 64, top: 22, bottom: 40};

// Returns a colour of the style sheet, in the theme that the reader prefers.
const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// The highest number of accesses has the colour with the greatest contrast to the page.
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
const ramp = () => isDark() ? COLOURS.slice(0, -1).reverse() : COLOURS;

function colour(share) {
  const colours = ramp(), at = Math.min(1, Math.max(0, share)) * (colours.length - 1), k = Math.min(colours.length - 2, Math.floor(at));
  return `rgb(${colours[k].map((c, i) => Math.round(c + (at - k) * (colours[k + 1][i] - c))).join(" ")})`;
}

class BlockPicture {
  constructor(canvas) { this.canvas = canvas; }

  // counts: accesses per thread and phase, by the lines that are shown; all: accesses by any line;
  // chosen: {phase, warp}; reached: the last phase that has happened (later phases are faint).
  draw(kernel, counts, all, chosen, reached, width) {
    const threads = counts.length, phases = kernel.shown, ratio = window.devicePixelRatio || 1;
    this.row = Math.min(14, 512 / threads);
    this.column = Math.max(28, Math.min(120, Math.floor((width - MARGIN.left - 8) / phases)));
    const w = MARGIN.left + phases * this.column + 8, h = MARGIN.top + threads * this.row + MARGIN.bottom;
    Object.assign(this.canvas, {width: w * ratio, height: h * ratio});
    Object.assign(this.canvas.style, {width: `${w}px`, height: `${h}px`});
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "12px system-ui, sans-serif";
    this.drawThreads(pen, counts, all, phases, reached);
    this.drawAxes(pen, kernel, threads, phases, reached);
    pen.strokeStyle = token("vermilion");
    pen.lineWidth = 3;
    const rows = Math.min(32, threads - 32 * chosen.warp);
    pen.strokeRect(MARGIN.left + chosen.phase * this.column - 1.5, MARGIN.top + 32 * chosen.warp * this.row - 1, this.column, rows * this.row + 2);
    return this.range;
  }

  drawThreads(pen, counts, all, phases, reached) {
    const threads = counts.length, some = counts.flat().filter((n) => n > 0);
    const fewest = Math.min(...some), most = Math.max(...some);
    this.range = {fewest, most};
    const share = (n) => most > fewest ? Math.log(n / fewest) / Math.log(most / fewest) : 0.6;
    const [line, edge] = ["line", "edge"].map(token);
    // Adjacent threads with equal counts share one box, because a thread may be thinner than a pixel.
    for (let p = 0; p < phases; ++p) {
      const x = MARGIN.left + p * this.column, isSame = (a, b) => counts[a][p] === counts[b][p] && !all[a][p] === !all[b][p];
      pen.globalAlpha = p <= reached ? 1 : 0.15;
      for (let t = 0, end; t < threads; t = end) {
        for (end = t + 1; this.row <= 4 && end < threads && isSame(end, t);) ++end;
        if (all[t][p] === 0) continue;
        pen.fillStyle = counts[t][p] > 0 ? colour(share(counts[t][p])) : line;
        pen.fillRect(x, MARGIN.top + t * this.row, this.column - 3, (end - t) * this.row - (this.row > 4 ? 1 : 0));
      }
      pen.strokeStyle = edge;
      pen.lineWidth = 1;
      pen.strokeRect(x + 0.5, MARGIN.top - 0.5, this.column - 4, threads * this.row + 1);
    }
    pen.globalAlpha = 1;
  }

  drawAxes(pen, kernel, threads, phases, reached) {
    const ink = token("ink"), soft = token("soft");
    pen.fillStyle = ink;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (let t = 0; t < threads; t += 32) {
      if (t > 0) pen.fillRect(MARGIN.left - 56, MARGIN.top + t * this.row, 52, 0.5);
      pen.fillText(`warp ${t / 32}`, MARGIN.left - 6, MARGIN.top + Math.min(t + 16, (t + threads) / 2) * this.row);
    }
    pen.textAlign = "center";
    for (let p = 0; p < phases; ++p) {
      pen.fillStyle = p <= reached ? ink : soft;
      pen.fillText(String(p), MARGIN.left + (p + 0.5) * this.column - 1.5, 11);
    }
    const bottom = MARGIN.top + threads * this.row;
    pen.fillStyle = ink;
    kernel.barriers.slice(0, phases - 1).forEach((place, k) => {
      const x = MARGIN.left + (k + 1) * this.column - 2.5;
      pen.fillRect(x, MARGIN.top - 4, 2, bottom - MARGIN.top + 10);
      pen.fillText(lineOf(place), x + 1, bottom + 16 + 13 * (this.column < 40 ? k % 2 : 0));
    });
    if (phases > 1) {
      pen.textAlign = "right";
      pen.fillText("barrier, line", MARGIN.left + this.column - 22, bottom + 16 + (this.column < 90 ? 14 : 0));
    }
  }

  // Returns the phase and thread that are drawn at this place of the canvas.
  at(x, y) {
    return {phase: Math.floor((x - MARGIN.left) / this.column), thread: Math.floor((y - MARGIN.top) / this.row)};
  }
}

const lineOf = (place) => place.replace(/^.*:/, "");
