// Shows the table of steps: a button for each step, and the results of the time when it computed
// the bodies.
"use strict";

const WHERE = {hostcuda: "emulated", cpu: "CPU", cuda: "GPU"};

class Stairs {
  constructor(send) {
    this.send = send;
    this.count = 0;
    this.running = null;
  }

  set(message, time) {
    this.running = message.running;
    element("stairs").hidden = false;
    document.body.classList.add("has_stairs");
    if (this.count !== message.steps.length) this.build(message.steps);
    message.steps.forEach((step, k) => this.fill(this.rows[k], step, k === message.running, message.starting, time));
    return message.failure;
  }

  build(steps) {
    this.count = steps.length;
    this.rows = steps.map(({name}, k) => {
      const row = make("tr"), textContent = name.replace(/^step(\d+[a-z]?)_/, "$1 ");
      row.append(...["", "rate", "where", "error", "over"].map((className) => make("td", {className})));
      const button = make("button", {type: "button", textContent, title: k < 9 ? `${k + 1}` : ""});
      button.addEventListener("click", () => this.choose(k));
      row.firstChild.append(button);
      return row;
    });
    element("stairs_rows").replaceChildren(...this.rows);
  }

  fill(row, step, isRunning, starting, time) {
    const [first, rate, where, error, over] = row.children, {energy} = step;
    first.firstChild.setAttribute("aria-pressed", String(isRunning));
    const set = (cell, text) => { if (cell.textContent !== text) cell.textContent = text; };
    const known = step.interactions_per_second !== null;
    set(rate, isRunning && starting ? "starts" : known ? `${number(step.interactions_per_second * 1e-9)}` : "–");
    set(where, (WHERE[step.backend] || "") + (step.approximates ? ", tree" : ""));
    where.classList.toggle("emulated", step.backend === "hostcuda");
    set(error, energy ? energy.error.toExponential(1) : "–");
    set(over, energy ? `${time(energy.since, 3)} to ${time(energy.time, 3)}` : "");
  }

  choose(k) { if (k < this.count) this.send(k); }
  next() { if (this.count > 0) this.choose(this.running === null ? 0 : (this.running + 1) % this.count); }
}
