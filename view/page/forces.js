// Sliders for a run's time step and softening, which multiply the initial values by powers of two.
// When a value changes, the energy error next to the sliders starts again from zero.
"use strict";

class Forces {
  constructor(send) {
    this.send = send;
    this.sliders = {dt: element("dt"), softening: element("softening")};
    for (const slider of Object.values(this.sliders)) {
      slider.addEventListener("input", () => this.label());
      slider.addEventListener("change", () => this.send(this.asked()));
    }
  }

  setInfo(info) {
    this.info = info;
    element("forces").hidden = !info.may_change_forces;
  }

  asked() {
    const value = (name) => this.info[name] * Math.pow(2, Number(this.sliders[name].value));
    return {dt: value("dt"), softening: value("softening")};
  }

  label() {
    const asked = this.asked();
    show("dt_value", inUnit(asked.dt, this.info.time_unit));
    show("softening_value", inUnit(asked.softening, this.info.length_unit));
  }

  // Shows the run's values, but does not touch a slider that is being moved.
  setStatus(now) {
    if (!this.info || !now.dt) return;
    for (const [name, slider] of Object.entries(this.sliders))
      if (!slider.matches(":active")) slider.value = Math.log2(now[name] / this.info[name]);
    this.label();
  }

  // Moves a slider by one position, for the keyboard.
  move(name, by) {
    if (element("forces").hidden) return;
    this.sliders[name].stepUp(by);
    this.label();
    this.send(this.asked());
  }
}
