// Connects the parts: a source of frames, the camera, the picture and the text around it.
"use strict";

const TURN_PER_SECOND = 0.2;  // radians: a turn takes half a minute

class App {
  constructor() {
    this.hud = new Hud();
    this.camera = new OrbitCamera();
    this.few = new FewBodies();
    this.cells = new Cells();
    this.forces = new Forces((forces) => this.source.setForces(forces));
    this.stairs = new Stairs((stair) => this.source.setStair(stair));
    this.hidden = 0;  // a bit for each component
    this.renderer = new Renderer(element("picture"));
    this.arrivals = [];  // arrival times of the frames of the last second
    this.framesSeen = 0;
    this.survey = null;
    this.source = new Source(this);
    this.camera.listenTo(element("picture"));
    this.listen();
    const panels = ["facts", "legend", "message", "stairs", "bar", "menu"].map(element);
    this.free = new FreePart(panels, (...found) => this.setFree(...found));
    this.source.start();
    const loop = (now) => {
      if (this.source.tick) this.source.tick(now);
      if (element("rotate").checked) this.camera.rotate((now - this.drawn) / 1000 * TURN_PER_SECOND, 0);
      this.drawn = now;
      this.draw();
      requestAnimationFrame(loop);
    };
    requestAnimationFrame(loop);
  }

  setInfo(info) {
    const before = this.info;
    this.info = info;
    this.forces.setInfo(info);
    this.hud.setInfo(info);
    // If another step continues the simulation of the same bodies, keeps the viewpoint.
    const same = before && this.stairs.count > 0 && ["scenario", "systems", "bodies_per_system"].every((k) => info[k] === before[k]);
    if (!same) this.setBodies(info);
  }

  setBodies(info) {
    this.survey = null;
    const components = new Uint8Array(info.component_runs.reduce((sum, [, bodies]) => sum + bodies, 0));
    let at = 0;
    for (const [component, bodies] of info.component_runs) {
      components.fill(component % 256, at, at + bodies);
      at += bodies;
    }
    this.components = components;
    this.palette = paletteOf(info.components);
    this.hidden = 0;
    this.renderer.setComponents(components);
    this.few.setInfo(info);
    this.cells = new Cells();
    this.renderer.setFew(this.few.sizes, this.few.colours);
    element("trails").checked = element("trails").defaultChecked = this.few.count > 0;
    for (const option of element("colour_by").options)
      option.selected = option.defaultSelected = option.value === (this.few.count > 0 ? "body" : "speed");
    this.hud.setComponents(info.components, (k, on) => {
      this.hidden = on ? this.hidden & ~(1 << k) : this.hidden | 1 << k;
    });
  }

  setFrame(frame) {
    if (this.frame && (frame.time - this.frame.time) * this.info.dt < 0) this.clearTrails();  // the film restarted
    this.frame = frame;
    const now = performance.now();
    this.arrivals = this.arrivals.filter((time) => now - time < 1000).concat(now);
    frame.measured = frame.bodies;
    frame.bodies = this.few.setFrame(frame);
    this.renderer.setBodies(frame.bodies, this.few.count === 0 && element("trails").checked);
    // The range of speeds changes slowly, because nobody can read a legend that flickers.
    if (this.survey === null) {
      this.fit();
    } else if (++this.framesSeen % 30 === 0) {
      const now = surveyFrame(frame);
      this.survey.speeds = this.survey.speeds.map((value, k) => 0.7 * value + 0.3 * now.speeds[k]);
      if (now.lost > 0) this.setMessage("Some bodies are no longer finite numbers.");
    }
    this.hud.setFrame(frame, this.arrivals.length);
  }

  setStatus() {
    const {paused, finished, speed, energy, forces} = this.source.state;
    show("pause", paused ? "Resume" : "Pause");
    element("pause").disabled = element("single").disabled = finished;
    show("speed", speed);
    if (forces) {  // sent by a live run; a recording's frames include the energy
      this.hud.setEnergy(energy);
      this.forces.setStatus(forces);
    }
    if (finished) this.setMessage("The run has ended; this is its last state.");
  }

  setStairs(message) {
    const time = (value, digits) => this.info ? this.hud.time(value, digits) : number(value, digits);
    this.setMessage(this.stairs.set(message, time));
    element("stairs_note").hidden = !message.steps.some((step) => step.backend === "hostcuda");
  }

  setMessage(text) { this.hud.setMessage(text); }

  // Systems do not interact, so they are shown side by side, in rows.
  layout() {
    const {systems, bodies_per_system, shown_every} = this.info;
    const apart = systems > 1 && element("apart").checked;
    const columns = apart ? Math.ceil(Math.sqrt(systems)) : 1;
    return {bodiesPerSystem: apart ? Math.ceil(bodies_per_system / shown_every) : 1 << 30,
            columns, rows: Math.ceil(apart ? systems / columns : 1),
            spacing: apart ? 2.4 * this.survey.radius : 0};
  }

  // Shows the bodies within the rectangle that no panel covers.
  setFree({left, top, right, bottom}, width, height) {
    this.camera.setFree({x: (left + right) / width - 1, y: 1 - (top + bottom) / height,
                         halfWidth: (right - left) / width, halfHeight: (bottom - top) / height});
    const above = ["facts", "legend", "message"].map((id) => element(id).getBoundingClientRect());
    const aboveMenu = above.filter((box) => box.right > width / 2).map((box) => box.bottom);
    element("menu").style.setProperty("--above", `${Math.max(0, ...aboveMenu)}px`);
    element("menu").style.setProperty("--below", `${element("bottom").offsetHeight}px`);
  }

  // Changes between a true and a logarithmic scale of distances.
  setDistances() {
    this.few.setLogarithmic(element("distances").value === "logarithmic");
    if (!this.frame) return;
    this.frame.bodies = this.few.shown(this.frame.measured);
    this.renderer.setBodies(this.frame.bodies, false);
    this.fit();
  }

  // Fits the view around the bodies' current positions.
  fit() {
    if (!this.frame) return;
    this.survey = {...surveyFrame(this.frame), ...this.few.extent()};
    const {columns, rows} = this.layout();
    this.camera.fit(this.survey.centre, this.survey.radius * (1.1 + 1.5 * (Math.max(columns, rows) - 1)));
  }

  clearTrails() {
    this.few.clear();
    this.renderer.clearTrails();
  }

  // Restores the initial view, but does not restart a run.
  reset() {
    if (!this.survey) return;
    element("controls").reset();
    this.few.followed = -1;
    this.few.setLogarithmic(element("distances").value === "logarithmic");
    this.frame.bodies = this.few.shown(this.frame.measured);
    this.renderer.setBodies(this.frame.bodies, false);
    this.few.clear(1);
    this.cells.body = 0;
    this.camera.reset();
    for (const button of document.querySelectorAll(".swatch[aria-pressed=false]")) button.click();
    this.fit();
    this.source.rewind();
    this.setStatus();
  }

  toggle(id) { element(id).checked = !element(id).checked; }

  nextColour() {
    const choice = element("colour_by"), allowed = [...choice.options].filter((option) => !option.disabled);
    allowed[(allowed.findIndex((option) => option.selected) + 1) % allowed.length].selected = true;
  }

  toggleFullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen();
  }

  look() {
    const {few, info, palette} = this, component = (body) => this.components[body];
    const trails = few.frames.length > 0 && element("trails").checked ? few.trails() : null;
    return {...this.layout(), colourBy: element("colour_by").value, speedRange: this.survey.speeds,
            palette, hidden: this.hidden, size: Number(element("size").value), light: Number(element("light").value),
            cells: this.cells.drawn, trails, loops: this.loops(), componentOf: component,
            bodyColour: (body) => this.colourOf(body)};
  }

  // If there are few bodies, returns the colour in which a body is drawn, for its trail and orbit.
  colourOf(body) {
    const {speeds: [slowest, fastest]} = this.survey, speed = this.frame.bodies[4 * body + 3];
    if (element("colour_by").value === "speed") return speedColour(fastest > slowest ? (speed - slowest) / (fastest - slowest) : 0.5);
    return COMPONENT_COLOURS[element("colour_by").value === "body" ? this.few.colours[body] : this.palette[this.components[body] % 8]];
  }

  // Computes orbits and rings anew only if something has changed.
  loops() {
    const key = `${this.frame.number} ${element("orbits").checked} ${element("distances").value}`;
    if (this.loopsKey !== key) this.drawnLoops = this.few.loops(element("orbits").checked);
    this.loopsKey = key;
    return this.drawnLoops;
  }

  draw() {
    if (!this.survey) return;
    this.few.follow(this.camera);
    this.cells.update(this.frame, this.info, performance.now());
    const look = this.look(), {clientWidth, clientHeight} = element("picture");
    this.renderer.draw(this.camera, look);
    this.few.placeNames(element("names").checked, this.camera.matrix(clientWidth / clientHeight), look, this.free.boxes);
    this.hud.setRange(look.colourBy === "speed", this.survey.speeds);
    this.hud.setScale(this.camera.lengthOfPixel(clientWidth, clientHeight), this.few.logarithmicFrom);
  }

  // Selects the clicked body, whose cells are then drawn.
  pick(event) {
    const {clientWidth, clientHeight} = element("picture"), aspect = clientWidth / clientHeight;
    if (this.cells.choice !== "body" || !this.survey) return;
    this.cells.pick(2 * event.clientX / clientWidth - 1, 1 - 2 * event.clientY / clientHeight, aspect, this.frame,
                    this.camera.matrix(aspect), this.look());
  }

  // Saves the picture, with names and time, to a file.
  save() {
    if (!this.survey) return;
    this.draw();
    const canvas = element("picture"), picture = document.createElement("canvas");
    [picture.width, picture.height] = [canvas.width, canvas.height];
    const context = picture.getContext("2d"), ratio = canvas.width / canvas.clientWidth;
    context.drawImage(canvas, 0, 0);
    context.fillStyle = "#e8ebf2";
    context.font = `${14 * ratio}px system-ui, sans-serif`;
    this.few.drawNames(context, ratio);
    context.fillText(`${element("title").textContent}, time ${element("time").textContent}`, 12 * ratio,
                     picture.height - 12 * ratio);
    const name = (this.info.scenario || "bodies").replace(/[^\w.-]+/g, "_");
    make("a", {href: picture.toDataURL("image/png"), download: `${name}_${this.frame.step}.png`}).click();
  }

  listen() {
    const actions = {
      pause: () => this.source.togglePause(),
      single: () => this.source.single(),
      faster: () => this.source.faster(),
      slower: () => this.source.slower(),
      fit: () => this.fit(),
      start_over: () => this.reset(),
      save: () => this.save(),
      whole_screen: () => this.toggleFullScreen(),
    };
    for (const [id, action] of Object.entries(actions)) element(id).addEventListener("click", action);
    element("apart").addEventListener("change", actions.fit);
    element("follow").addEventListener("change", (event) => { this.few.followed = Number(event.target.value); });
    let pressed = null;
    element("picture").addEventListener("pointerdown", (event) => { pressed = event; });
    element("picture").addEventListener("pointerup", (event) => {
      // Dragging turns the picture.
      if (pressed && Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY) < 4) this.pick(event);
    });
    element("distances").addEventListener("change", () => this.setDistances());
    element("more").addEventListener("click", () => this.toggleMenu());
    element("whole_screen").hidden = !document.fullscreenEnabled;
    document.addEventListener("fullscreenchange", () =>
      show("whole_screen", document.fullscreenElement ? "Window" : "Full screen"));
    this.keys = new Keys(this.bindings(actions), () => {
      if (!element("controls").classList.contains("open")) return;
      this.toggleMenu();
      element("more").focus();
    });
  }

  toggleMenu() {
    const open = element("controls").classList.toggle("open");
    element("more").setAttribute("aria-expanded", String(open));
    document.body.classList.toggle("has_menu", open);
    show("more", open ? "Close" : "Menu");
    this.free.measure();
  }

  bindings(actions) {
    const turn = 0.08, turns = {ArrowLeft: [turn, 0], ArrowRight: [-turn, 0], ArrowUp: [0, -turn], ArrowDown: [0, turn]};
    const all = [
      {shown: "Space", keys: [" "], text: "pause, resume", run: actions.pause},
      {shown: "S", keys: ["s"], text: "one frame", run: actions.single},
      {shown: ", .", keys: [",", "."], text: "slower, faster", run: (key) => key === "." ? actions.faster() : actions.slower()},
      {shown: "arrows, drag", keys: Object.keys(turns), text: "turn", run: (key) => this.camera.rotate(...turns[key])},
      {shown: "+ −, wheel", keys: ["+", "=", "-"], text: "nearer, farther", run: (key) => this.camera.zoom(key === "-" ? 1 / 0.9 : 0.9)},
      {shown: "F", keys: ["f"], text: "fit: all but the outermost bodies", run: actions.fit},
      {shown: "A", keys: ["a"], text: "start or stop the rotation", run: () => this.toggle("rotate")},
      {shown: "T", keys: ["t"], text: "trails", run: () => this.toggle("trails")},
      {shown: "C", keys: ["c"], text: "colour by speed, component or body", run: () => this.nextColour()},
      {shown: "O", keys: ["o"], text: "orbits (of planets)", run: () => this.toggle("orbits")},
      {shown: "L", keys: ["l"], text: "distances: logarithmic or true (of planets)", run: () => {
        element("distances").value = this.few.planets.logarithmic ? "true" : "logarithmic";
        this.setDistances();
      }},
      {shown: "M", keys: ["m"], text: "menu", run: () => this.toggleMenu()},
      {shown: "D, shift D", keys: ["d", "D"], text: "longer, shorter time step (of a run)", run: (key) => this.forces.move("dt", key === "d" ? 1 : -1)},
      {shown: "E, shift E", keys: ["e", "E"], text: "greater, smaller softening (of a run)", run: (key) => this.forces.move("softening", key === "e" ? 1 : -1)},
      {shown: "1 to 9", keys: [..."123456789"], text: "switch to that step (with --stairs)", run: (key) => this.stairs.choose(Number(key) - 1)},
      {shown: "N", keys: ["n"], text: "switch to the next step (with --stairs)", run: () => this.stairs.next()},
      {shown: "W", keys: ["w"], text: "full screen", run: actions.whole_screen},
      {shown: "B", keys: ["b"], text: "bodies only, no panels", run: () => document.body.classList.toggle("bare")},
      {shown: "P", keys: ["p"], text: "save the picture as a PNG", run: actions.save},
      {shown: "R", keys: ["r"], text: "reset the view", run: actions.start_over},
      {shown: "H", keys: ["h", "?"], text: "these keys", run: () => this.keys.toggle()},
    ];
    return all.map((one) => ({...one, run: (key) => { if (this.info || this.stairs.count > 0) one.run(key); }}));
  }
}

let app = null;
try {
  app = new App();
} catch (error) {
  document.body.classList.add("blank");
  show("message", error.message);
}
