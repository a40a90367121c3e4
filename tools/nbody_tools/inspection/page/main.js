// Connects the parts of the page: the picture of a block, the source lines, and the picture of a request.
"use strict";

const element = (id) => document.getElementById(id);
const show = (id, text) => { element(id).textContent = text; };
const count = (value, one, several = `${one}s`) => `${value.toLocaleString("en")} ${value === 1 ? one : several}`;
const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
const total = (accesses) => accesses.reduce((sum, access) => sum + access.executions.reduce((a, b) => a + b, 0), 0);

const MOST_COLUMNS = 32;  // hostcuda records the accesses of this many columns
const COLUMN_SECONDS = 1.5;

class Page {
  constructor(data) {
    this.data = data;
    this.picture = new BlockPicture(element("grid"));
    this.playing = null;
    show("title", data.title);
    document.title = `${data.title} – a block between its barriers`;
    element("kernel").replaceChildren(...data.kernels.map((kernel, k) => new Option(kernel.name, k)));
    element("kernel").addEventListener("change", (event) => this.choose(Number(event.target.value)));
    if (data.kernels.length === 0) {
      show("about", "No kernel was launched, so there is nothing to show.");
      for (const id of ["kernel", "threads", "asked"]) element(id).hidden = true;
      return;
    }
    this.listen();
    this.choose(0);
  }

  choose(k) {
    this.stop();
    const kernel = this.kernel = this.data.kernels[k];
    kernel.threads = kernel.dimensions.reduce((all, n) => all * n, 1);
    kernel.shown = Math.min(kernel.phases, MOST_COLUMNS);
    // Groups of similar accesses of a line; a line may load and store.
    const kinds = new Map();
    for (const access of kernel.accesses) {
      const key = [access.file, access.line, access.memory, access.access, access.bytes].join(" ");
      if (!kinds.has(key)) kinds.set(key, []);
      kinds.get(key).push(access);
    }
    this.kinds = [...kinds.values()].sort(([a], [b]) => a.file.localeCompare(b.file) || a.line - b.line);
    show("about", `Block (0, 0, 0) of the first launch, ${count(kernel.threads, "thread")}, of ${count(kernel.blocks, "block")} in ` +
        `${count(kernel.launches, "launch", "launches")}; ${count(kernel.phases - 1, "barrier")}.` +
        (kernel.phases > kernel.shown ? ` The first ${kernel.shown} columns of ${kernel.phases} are shown.` : ""));
    this.all = this.countsOf(kernel.accesses);
    this.buildLines();
    this.at = {phase: 0, warp: 0};
    this.reached = Infinity;  // no column is faint
    this.pick(-1);
  }

  buildLines() {
    const texts = new Map(this.kernel.lines.map((line) => [`${line.file} ${line.line}`, line.source]));
    element("lines").replaceChildren(...this.kinds.map((kind, k) => {
      const [first] = kind, row = make("tr", {title: first.file});
      const cells = ["", `${first.memory} ${first.access}`, first.bytes, total(kind).toLocaleString("en"), "", texts.get(`${first.file} ${first.line}`)];
      cells.forEach((textContent, i) => row.append(make("td", {textContent, className: ["", "", "number", "number", "number", "source"][i]})));
      row.firstChild.append(make("button", {type: "button", textContent: first.line, ariaLabel: `line ${first.line}, ${first.memory} ${first.access}`}));
      row.addEventListener("click", () => this.pick(this.kind === k ? -1 : k));
      return row;
    }));
  }

  // Selects a line, or all lines if k is -1. If the line accesses nothing in the chosen column, also selects
  // another column.
  pick(k) {
    this.kind = k;
    this.instruction = 0;
    if (k >= 0 && this.here().length === 0 && this.reached === Infinity) {
      const other = this.kinds[k].find((access) => access.warp === this.at.warp) || this.kinds[k][0];
      this.at = {phase: other.phase, warp: other.warp};
    }
    this.draw();
    // On a wide page, the table of lines has its own scroll bar.
    if (k >= 0 && matchMedia("(min-width: 1151px)").matches) element("lines").children[k].scrollIntoView({block: "nearest"});
  }

  accesses() { return this.kind < 0 ? this.kernel.accesses : this.kinds[this.kind]; }
  here() { return this.accesses().filter(({phase, warp}) => phase === this.at.phase && warp === this.at.warp); }

  countsOf(accesses) {
    const counts = Array.from({length: this.kernel.threads}, () => new Array(this.kernel.shown).fill(0));
    for (const {phase, warp, executions} of accesses)
      executions.forEach((n, lane) => { if (n > 0) counts[32 * warp + lane][phase] += n; });
    return counts;
  }

  draw() {
    this.counted = this.kind < 0 ? this.all : this.countsOf(this.accesses());
    const {fewest, most} = this.picture.draw(this.kernel, this.counted, this.all, this.at, this.reached, element("threads").clientWidth);
    show("fewest", Number.isFinite(fewest) ? fewest.toLocaleString("en") : "–");
    show("most", Number.isFinite(most) ? most.toLocaleString("en") : "–");
    element("ramp").style.background = `linear-gradient(to right, ${ramp().map((c) => `rgb(${c.join(" ")})`).join(", ")})`;
    this.sayLines();
    this.sayMoment();
    this.drawRequest();
  }

  // Says which lines the map shows, so that the reader does not take an empty column for idle threads.
  sayLines() {
    const chosen = this.kind < 0 ? null : this.kinds[this.kind][0];
    const name = chosen ? `line ${chosen.line} (${chosen.memory} ${chosen.access})` : "";
    show("shown_lines", chosen ? `The map shows only ${name}. ` : this.kinds.length === 0 ? "No line of this block accesses memory." :
        `The map shows ${this.kinds.length === 1 ? "the only line that accesses memory" : `all ${this.kinds.length} lines that access memory, together`}. ` +
        "Choose a line to see it alone.");
    if (chosen) {
      const all = make("button", {type: "button", id: "all_lines", textContent: "Show all lines"});
      all.addEventListener("click", () => this.pick(-1));
      element("shown_lines").append(all);
    }
    element("others").hidden = !chosen;
    show("counted", `accesses by one thread in one column${chosen ? `, of ${name}` : ", of all lines"}`);
  }

  // Says what happens in the chosen column, and writes next to each line how often it accesses memory there.
  sayMoment() {
    const {phase} = this.at, {barriers, shown, phases} = this.kernel;
    const from = phase === 0 ? "from the start of the kernel" : `after the barrier in line ${lineOf(barriers[phase - 1])}`;
    const to = phase === phases - 1 ? "to the end of the kernel" : `to the barrier in line ${lineOf(barriers[phase])}`;
    const found = this.kinds.map((kind) => total(kind.filter((access) => access.phase === phase)));
    const parts = this.kinds.map(([first], k) => [first, found[k]]).filter(([, n]) => n > 0)
        .map(([first, n]) => `line ${first.line} ${first.memory} ${first.access} ${n.toLocaleString("en")}×`);
    show("moment", `Column ${phase}, ${from} ${to}: ${parts.length === 0 ? "no thread accesses memory" : parts.join(", ")}.`);
    [...element("lines").children].forEach((row, k) => {
      row.className = `${k === this.kind ? "chosen" : ""} ${found[k] === 0 ? "idle" : ""}`;
      row.querySelector("button").setAttribute("aria-pressed", String(k === this.kind));
      row.children[4].textContent = found[k] === 0 ? "–" : found[k].toLocaleString("en");
    });
    element("first").disabled = element("back").disabled = phase === 0;
    element("forward").disabled = phase === shown - 1;
    element("play").disabled = shown < 2;
    element("all_time").hidden = this.reached === Infinity;
    show("play", this.playing === null ? "Play" : "Pause");
  }

  drawRequest() {
    const {phase, warp} = this.at, here = this.here(), where = `warp ${warp}, column ${phase}`;
    const access = here[this.instruction % Math.max(1, here.length)];
    if (this.kind < 0 || !access) {
      show("request_title", `A request of ${where}`);
      show("request_text", this.kind < 0 ? "Choose a line to see which bytes the lanes of this warp request." : "This line does nothing here.");
      element("request").replaceChildren();
      show("other_requests", "");
      return;
    }
    const isGlobal = access.memory === "global", drawn = isGlobal ? drawSectors(access) : drawBanks(access);
    show("request_title", `Line ${access.line}, ${where}: the first of ${count(access.requests, "request")}`);
    const lanes = active(access).length, unit = isGlobal ? "sector" : "wavefront";
    show("request_text", `${count(lanes, "lane")} ${lanes === 1 ? "asks" : "ask"} for ${access.bytes} bytes each: ${count(access.cost, unit)}; ` +
        `adjacent bytes would take ${access.ideal_cost}.` + (isGlobal ? ` ${Math.round(100 * drawn.used)} % of the fetched bytes are used.` : ""));
    element("request").innerHTML = drawn.svg;
    show("other_requests", here.length > 1 ? `${this.instruction % here.length + 1} of ${here.length} instructions that the compiler generated for this line; I shows the next.` : "");
  }

  move(phases, warps) {
    const keep = (value, most) => Math.min(most, Math.max(0, value));
    this.at = {phase: keep(this.at.phase + phases, this.kernel.shown - 1),
               warp: keep(this.at.warp + warps, Math.ceil(this.kernel.threads / 32) - 1)};
    if (this.reached !== Infinity) this.reached = this.at.phase;
    this.draw();
  }

  // Moves through the block's time: later columns are faint, because they have not happened yet.
  step(phases) {
    this.reached = this.at.phase;
    this.move(phases, 0);
  }

  // Moves on by a column at regular times; if the last column is selected, starts again at the first.
  play() {
    if (this.playing !== null) return this.stop();
    this.playing = setInterval(() => {
      if (this.at.phase < this.kernel.shown - 1) this.step(1);
      if (this.at.phase === this.kernel.shown - 1) this.stop();
    }, 1000 * COLUMN_SECONDS);
    this.step(this.at.phase === this.kernel.shown - 1 ? -this.at.phase : 0);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    show("play", "Play");
  }

  listen() {
    const place = (event) => {
      const box = element("grid").getBoundingClientRect(), found = this.picture.at(event.clientX - box.left, event.clientY - box.top);
      const inside = found.phase >= 0 && found.phase < this.kernel.shown && found.thread >= 0 && found.thread < this.kernel.threads;
      return inside ? found : null;
    };
    element("grid").addEventListener("click", (event) => {
      const found = place(event);
      if (!found) return;
      this.at = {phase: found.phase, warp: Math.floor(found.thread / 32)};
      this.move(0, 0);
    });
    element("grid").addEventListener("pointermove", (event) => {
      const found = place(event);
      show("hover", found ? `thread ${found.thread} (warp ${Math.floor(found.thread / 32)}, lane ${found.thread % 32}), column ${found.phase}: ` +
          count(this.counted[found.thread][found.phase], "access", "accesses") : "");
    });
    const showAll = () => {
      this.stop();
      this.reached = Infinity;
      this.draw();
    };
    const halt = (action) => () => {
      this.stop();
      action();
    };
    const buttons = {first: halt(() => this.step(-this.at.phase)), back: halt(() => this.step(-1)), forward: halt(() => this.step(1)),
                     play: () => this.play(), all_time: showAll};
    for (const [id, action] of Object.entries(buttons)) element(id).addEventListener("click", action);
    this.listenToKeys(buttons);
    window.addEventListener("resize", () => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  listenToKeys(buttons) {
    const lines = (by) => { if (this.kinds.length > 0) this.pick((this.kind + by + this.kinds.length) % this.kinds.length); };
    const keys = {ArrowLeft: () => this.move(-1, 0), ArrowRight: () => this.move(1, 0), ArrowUp: () => this.move(0, -1),
                  ArrowDown: () => this.move(0, 1), j: () => lines(1), k: () => lines(this.kind < 0 ? 0 : -1), a: () => this.pick(-1),
                  i: () => { ++this.instruction; this.drawRequest(); }, Home: buttons.first, " ": buttons.play,
                  f: () => document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()};
    document.addEventListener("keydown", (event) => {
      const busy = event.target.matches("select") || (event.target.matches("button") && event.key === " ");
      if (busy || event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });
  }
}

const page = new Page(JSON.parse(element("data").textContent));
