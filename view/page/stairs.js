// Shows the dock of steps. It contains a card for each step, with a button and with the results from
// the time when this step simulated the bodies.
"use strict";

const WHERE = {hostcuda: "emulated", cpu: "CPU", cuda: "GPU"};

class Stairs {
  constructor(send) {
    this.send = send;
    this.count = 0;
    this.running = null;
  }

  set(message, time) {
    const switched = this.running !== message.running;
    this.running = message.running;
    element("stairs").hidden = false;
    document.body.classList.add("has_stairs");
    if (this.count !== message.steps.length) this.build(message.steps);
    message.steps.forEach((step, k) => this.fill(this.rows[k], step, k === message.running, message.starting, time));
    if (switched && this.running !== null) this.rows[this.running].scrollIntoView({block: "nearest", inline: "nearest"});
    return message.failure;
  }

  build(steps) {
    this.count = steps.length;
    this.rows = steps.map(({name}, k) => {
      const card = make("li"), parts = name.replace(/^step(\d+[a-z]?)_/, "$1 ").split(/(?<=_)/);
      card.append(make("button", {type: "button", title: k < 9 ? `${k + 1}` : ""}));
      card.append(...["rate", "where", "error", "over"].map((className) => make("span", {className})));
      // A long name is broken after an underscore.
      card.firstChild.append(...parts.flatMap((part, i) => i === 0 ? [part] : [make("wbr"), part]));
      card.firstChild.addEventListener("click", () => this.choose(k));
      return card;
    });
    element("stairs_rows").replaceChildren(...this.rows);
  }

  fill(card, step, isRunning, starting, time) {
    const [button, speed, where, error, over] = card.children, {energy} = step;
    button.setAttribute("aria-pressed", String(isRunning));
    const set = (cell, text) => { if (cell.textContent !== text) cell.textContent = text; };
    const known = step.interactions_per_second !== null;
    set(speed, isRunning && starting ? "starts" : known ? rate(step.interactions_per_second) : "–");
    set(where, (WHERE[step.backend] || "") + (step.approximates ? ", tree" : ""));
    where.classList.toggle("emulated", step.backend === "hostcuda");
    set(error, energy ? energy.error.toExponential(1) : "–");
    set(over, energy ? `${time(energy.since, 3)} to ${time(energy.time, 3)}` : "");
  }

  choose(k) { if (k < this.count) this.send(k); }
  next() { if (this.count > 0) this.choose(this.running === null ? 0 : (this.running + 1) % this.count); }
}
