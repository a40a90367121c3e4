// Connects the block, the lines and the request shown for them.
"use strict";

const element = (id) => document.getElementById(id);
const show = (id, text) => { element(id).textContent = text; };
const count = (value, one, several = `${one}s`) => `${value.toLocaleString("en")} ${value === 1 ? one : several}`;

const MOST_COLUMNS = 32;  // hostcuda records the accesses of this many

class Page {
  constructor(data) {
    this.data = data;
    this.picture = new BlockPicture(element("grid"));
    show("title", data.title);
    document.title = `${data.title} – a block between its barriers`;
    element("kernel").replaceChildren(...data.kernels.map((kernel, k) => new Option(kernel.name, k)));
    element("kernel").addEventListener("change", (event) => this.choose(Number(event.target.value)));
    element("ramp").style.background = `linear-gradient(to right, ${COLOURS.map((c) => `rgb(${c.join(" ")})`).join(", ")})`;
    this.listen();
    this.choose(0);
  }

  choose(k) {
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
    this.buildLines();
    this.kind = -1;  // all lines
    this.at = {phase: 0, warp: 0};
    this.pick(this.kinds.length > 0 ? 0 : -1);
  }

  buildLines() {
    const texts = new Map(this.kernel.lines.map((line) => [`${line.file} ${line.line}`, line.source]));
    element("lines").replaceChildren(...this.kinds.map((kind, k) => {
      const row = document.createElement("tr"), [first] = kind;
      const threads = kind.reduce((sum, access) => sum + access.executions.reduce((a, b) => a + b, 0), 0);
      const cells = [first.line, `${first.memory} ${first.access}`, first.bytes, threads.toLocaleString("en"), texts.get(`${first.file} ${first.line}`)];
      cells.forEach((text, i) => {
        const cell = document.createElement("td");
        cell.textContent = text;
        cell.className = ["", "", "number", "number", "source"][i];
        row.append(cell);
      });
      row.title = first.file;
      row.addEventListener("click", () => this.pick(k));
      return row;
    }));
  }

  // Selects a line; -1: all. If it does nothing in the chosen column, selects another column.
  pick(k) {
    this.kind = k;
    this.instruction = 0;
    if (k >= 0 && this.here().length === 0) {
      const other = this.kinds[k].find((access) => access.warp === this.at.warp) || this.kinds[k][0];
      this.at = {phase: other.phase, warp: other.warp};
    }
    this.draw();
  }

  accesses() { return this.kind < 0 ? this.kernel.accesses : this.kinds[this.kind]; }
  here() { return this.accesses().filter(({phase, warp}) => phase === this.at.phase && warp === this.at.warp); }

  counts() {
    const counts = Array.from({length: this.kernel.threads}, () => new Array(this.kernel.shown).fill(0));
    for (const {phase, warp, executions} of this.accesses())
      executions.forEach((n, lane) => { if (n > 0) counts[32 * warp + lane][phase] += n; });
    return counts;
  }

  draw() {
    [...element("lines").children].forEach((row, k) => row.setAttribute("aria-selected", String(k === this.kind)));
    this.counted = this.counts();
    const {fewest, most} = this.picture.draw(this.kernel, this.counted, this.at, element("threads").clientWidth);
    show("fewest", Number.isFinite(fewest) ? fewest.toLocaleString("en") : "–");
    show("most", Number.isFinite(most) ? most.toLocaleString("en") : "–");
    this.drawRequest();
  }

  drawRequest() {
    const {phase, warp} = this.at, here = this.here(), where = `warp ${warp}, column ${phase}`;
    const access = here[this.instruction % Math.max(1, here.length)];
    if (this.kind < 0 || !access) {
      show("request_title", `A request of ${where}`);
      show("request_text", this.kind < 0 ? "Choose a line." : "This line does nothing here.");
      element("request").replaceChildren();
      show("other_requests", "");
      return;
    }
    const isGlobal = access.memory === "global", drawn = isGlobal ? drawSectors(access) : drawBanks(access);
    show("request_title", `Line ${access.line}, ${where}: the first of ${count(access.requests, "request")}`);
    const lanes = active(access).length, unit = isGlobal ? "sector" : "wavefront";
    show("request_text", `${count(lanes, "lane")} ${lanes === 1 ? "asks" : "ask"} for ${access.bytes} bytes each: ${count(access.cost, unit)}; as many ` +
        `different bytes side by side would take ${access.ideal_cost}.` + (isGlobal ? ` ${Math.round(100 * drawn.used)} % of what is fetched is used.` : ""));
    element("request").innerHTML = drawn.svg;
    show("other_requests", here.length > 1 ? `${this.instruction % here.length + 1} of ${here.length} instructions that the compiler generated for this line; I shows the next.` : "");
  }

  move(phases, warps) {
    const keep = (value, most) => Math.min(most, Math.max(0, value));
    this.at = {phase: keep(this.at.phase + phases, this.kernel.shown - 1),
               warp: keep(this.at.warp + warps, Math.ceil(this.kernel.threads / 32) - 1)};
    this.draw();
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
      this.draw();
    });
    element("grid").addEventListener("pointermove", (event) => {
      const found = place(event);
      show("hover", found ? `thread ${found.thread} (warp ${Math.floor(found.thread / 32)}, lane ${found.thread % 32}), column ${found.phase}: ` +
          count(this.counted[found.thread][found.phase], "access", "accesses") : "");
    });
    const lines = (by) => this.pick((this.kind + by + this.kinds.length) % this.kinds.length);
    const keys = {ArrowLeft: () => this.move(-1, 0), ArrowRight: () => this.move(1, 0), ArrowUp: () => this.move(0, -1),
                  ArrowDown: () => this.move(0, 1), j: () => lines(1), k: () => lines(this.kind < 0 ? 0 : -1), a: () => this.pick(-1),
                  i: () => { ++this.instruction; this.drawRequest(); },
                  f: () => document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()};
    document.addEventListener("keydown", (event) => {
      if (event.target.matches("select") || event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });
    window.addEventListener("resize", () => this.draw());
  }
}

const page = new Page(JSON.parse(element("data").textContent));
