// All text on the page.
"use strict";

const element = (id) => document.getElementById(id);

function show(id, text) {
  if (element(id).textContent !== text) element(id).textContent = text;
}

// About three significant digits, without jumping between notations.
function number(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(digits - 1).replace("e+", "e");
  return value.toLocaleString("en", {maximumSignificantDigits: Math.max(digits, Math.ceil(Math.log10(size + 1)))});
}

const count = (value) => value.toLocaleString("en");

class Hud {
  setInfo(info) {
    this.info = info;
    document.title = `${info.scenario || info.program} – N-body view`;
    show("title", info.scenario || info.program);
    show("subtitle", [info.program, info.device].filter(Boolean).join(", "));
    const total = info.systems * info.bodies_per_system;
    show("bodies", info.systems === 1 ? count(total)
                                      : `${count(info.systems)} × ${count(info.bodies_per_system)}`);
    const notes = [];
    if (info.shown_every > 1) notes.push(`one body of ${info.shown_every} is shown`);
    if (info.backend === "hostcuda") notes.push("CUDA emulated on a CPU: the rate is not a GPU's");
    if (info.units) notes.push(`units: ${info.units}`);
    show("note", notes.join("; "));
    element("apart_label").hidden = info.systems === 1;
    const components = element("colour_by").querySelector("[value=component]");
    components.disabled = info.components.length < 2;
  }

  setFrame(frame, framesPerSecond) {
    const last = this.info.last_step;
    show("time", number(frame.time, 5));
    show("step", last === null ? count(frame.step) : `${count(frame.step)} of ${count(last)}`);
    const rate = frame.interactionsPerSecond;
    show("interactions", rate > 0 ? `${number(rate * 1e-9)} G/s` : "–");
    show("steps_rate", frame.stepsPerSecond > 0 ? `${number(frame.stepsPerSecond)} /s` : "–");
    show("frames_rate", framesPerSecond > 0 ? `${number(framesPerSecond, 2)} /s` : "–");
    if (Number.isFinite(frame.energyError)) show("energy", frame.energyError.toExponential(1));
  }

  setEnergy(energy) {
    if (!energy || energy.error === null) return;
    // An estimate says nothing about a change smaller than its own error.
    const error = energy.uncertainty.toExponential(1);
    const below = Math.abs(energy.error) < energy.uncertainty;
    show("energy", below ? `below ${error}` : energy.error.toExponential(1));
    element("energy").title = `(E − E₀) / |E₀|, float64, at time ${number(energy.time, 5)}` +
        (energy.uncertainty > 0 ? `; estimated, standard error ${error}` : "; all pairs");
  }

  setMessage(text) { show("message", text); }

  setColours(bySpeed, range, components) {
    const key = bySpeed ? range.map((v) => number(v)).join() : "components";
    if (key === this.colours) return;
    this.colours = key;
    const box = element("colours");
    box.replaceChildren();
    const add = (parent, tag, className, text) => {
      const child = document.createElement(tag);
      child.className = className;
      child.textContent = text;
      parent.append(child);
      return child;
    };
    if (bySpeed) {
      add(box, "div", "", "speed");
      const ramp = add(box, "div", "", "");
      ramp.id = "ramp";
      ramp.style.background = `linear-gradient(to right, ${SPEED_COLOURS.map(css).join(", ")})`;
      const ends = add(box, "div", "ends", "");
      for (const value of range) add(ends, "span", "", number(value));
      return;
    }
    components.slice(0, 8).forEach((name, k) => {
      const row = add(box, "div", "swatch", "");
      add(row, "i", "", "").style.background = css(COMPONENT_COLOURS[k]);
      add(row, "span", "", name);
    });
    if (components.length > 8) add(box, "div", "ends", `and ${components.length - 8} more, in the same colours`);
  }

  // A bar that stands for a round length, 60 to 150 pixels long.
  setScale(lengthOfPixel) {
    const longest = 150 * lengthOfPixel, power = Math.pow(10, Math.floor(Math.log10(longest)));
    const length = power * [5, 2, 1].find((k) => k * power <= longest);
    element("scale_bar").style.width = `${length / lengthOfPixel}px`;
    show("scale_text", number(length, 1));
  }
}
