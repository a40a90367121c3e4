// Shows all text on the page.
"use strict";

const element = (id) => document.getElementById(id);

// Creates an element with these properties.
const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

function show(id, text) {
  if (element(id).textContent !== text) element(id).textContent = text;
}

// Formats a number with `digits` significant digits, or with more if the integer part has more.
// Uses an exponent only for a very large or very small number.
function number(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(digits - 1).replace("e+", "e");
  return value.toLocaleString("en", {maximumSignificantDigits: Math.max(digits, Math.ceil(Math.log10(size + 1)))});
}

const count = (value) => value.toLocaleString("en");

// Formats interactions per second: "2.19 M/s".
function rate(value) {
  const [size, prefix] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([least]) => value >= least) || [1, ""];
  return `${number(value / size)} ${prefix}/s`;
}

// Formats a value of the run, in a unit of known size if there is one.
const inUnit = (value, unit, digits = 3) =>
  unit ? `${number(value * unit.size, digits)} ${unit.name}` : number(value, digits);

class Hud {
  setInfo(info) {
    this.info = info;
    document.title = `${info.scenario || info.program} – N-body view`;
    show("title", info.scenario || info.program);
    show("subtitle", [info.program, info.device].filter(Boolean).join(", "));
    const total = info.systems * info.bodies_per_system;
    const thinned = info.shown_level > 0 ? `, 1 in ${count(info.shown_every)} drawn` : "";
    show("bodies", (info.systems === 1 ? count(total)
                                       : `${count(info.systems)} × ${count(info.bodies_per_system)}`) + thinned);
    const notes = [];
    if (thinned) notes.push(`thinned to level ${info.shown_level}: all bodies are computed, the same 1 in ${count(info.shown_every)} is always drawn`);
    if (info.backend === "hostcuda") notes.push("CUDA emulated on a CPU: the rate is not a GPU's");
    if (info.approximates) notes.push("a tree; the rate counts the interactions of a direct sum");
    notes.push(info.units ? `units: ${info.units}` : "units in which G = 1");
    element("apart_label").hidden = info.systems === 1;
    this.setEnergy(null);
    if (info.no_energy) notes.push(`energy ${info.no_energy}`);
    show("note", notes.join("; "));
    const choice = (value) => element("colour_by").querySelector(`[value=${value}]`);
    choice("component").disabled = info.components.length < 2;
    choice("body").disabled = !info.masses;
    show("speed_caption", info.speed_unit ? "speed of the bodies" : "speed of the bodies (G = 1)");
  }

  setFrame(frame, framesPerSecond) {
    const last = this.info.last_step;
    show("time", this.time(frame.time, this.info.time_unit ? 4 : 5));
    element("time").title = this.info.time_unit ? `${number(frame.time, 7)} in units where G = 1` : "in units where G = 1";
    show("step", last === null ? count(frame.step) : `${count(frame.step)} of ${count(last)}`);
    show("interactions", frame.interactionsPerSecond > 0 ? rate(frame.interactionsPerSecond) : "–");
    show("steps_rate", frame.stepsPerSecond > 0 ? `${number(frame.stepsPerSecond)} /s` : "–");
    show("frames_rate", framesPerSecond > 0 ? `${number(framesPerSecond, 2)} /s` : "–");
    if (Number.isFinite(frame.energyError)) show("energy", frame.energyError.toExponential(1));
  }

  setEnergy(energy) {
    const since = energy && energy.since !== undefined && energy.since !== this.info.start_time;
    element("energy_since").hidden = !since;
    if (!energy || energy.error === null) {
      show("energy", "–");
      element("energy").title = this.info.no_energy || "computed in the background; the first value will appear here";
      return;
    }
    if (since) show("energy_since", `counted from time ${this.time(energy.since, 3)}, when the forces changed`);
    // An estimated energy says nothing about a change that is smaller than the estimate's error.
    const error = energy.uncertainty.toExponential(1);
    const below = Math.abs(energy.error) < energy.uncertainty;
    show("energy", below ? `below ${error}` : energy.error.toExponential(1));
    element("energy").title = `(E − E₀) / |E₀|, float64, at time ${number(energy.time, 5)}` +
        (energy.uncertainty > 0 ? `; estimated, standard error ${error}` : "; all pairs");
  }

  time(time, digits) { return inUnit(time, this.info.time_unit, digits); }

  setMessage(text) { show("message", text); }

  // Called for each frame, because the range of speeds changes. The buttons of the components do not
  // change, so setComponents builds them only once.
  setRange(bySpeed, range) {
    element("speeds").hidden = !bySpeed;
    show("slowest", inUnit(range[0], this.info.speed_unit));
    show("fastest", inUnit(range[1], this.info.speed_unit));
  }

  // Makes a button for each component. The button shows or hides the component.
  setComponents(components, toggle) {
    element("ramp").style.background = `linear-gradient(to right, ${SPEED_COLOURS.map(css).join(", ")})`;
    const palette = paletteOf(components), box = element("components");
    box.replaceChildren(...(components.length < 2 ? [] : components.slice(0, 8)).map((name, k) => {
      const button = make("button", {type: "button", className: "swatch", title: "show or hide"}), dot = make("i");
      button.setAttribute("aria-pressed", "true");
      dot.style.background = css(COMPONENT_COLOURS[palette[k]]);
      button.append(dot, name);
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") === "false";
        button.setAttribute("aria-pressed", String(on));
        toggle(k, on);
      });
      return button;
    }));
    if (components.length > 8)
      box.append(make("p", {textContent: `and ${components.length - 8} more, in the same colours`}));
  }

  // Draws a scale bar of a round length, 44 to 110 pixels long. A logarithmic scale has no bar; the
  // text then names the body from which distances are measured.
  setScale(lengthOfPixel, logarithmicFrom) {
    element("scale_bar").hidden = logarithmicFrom !== null;
    if (logarithmicFrom !== null) return show("scale_text", `distances from ${logarithmicFrom}: logarithmic`);
    const unit = this.info.length_unit || {name: "length units", size: 1}, pixel = lengthOfPixel * unit.size;
    const longest = 110 * pixel, power = Math.pow(10, Math.floor(Math.log10(longest)));
    const length = power * [5, 2, 1].find((k) => k * power <= longest);
    element("scale_bar").style.width = `${length / pixel}px`;
    show("scale_text", `${number(length, 1)} ${length === 1 ? unit.name.replace(/s$/, "") : unit.name}`);
  }
}
