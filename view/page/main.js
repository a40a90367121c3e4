// Connects the parts: a source of frames, the camera, the picture and the text around it.
"use strict";

class App {
  constructor() {
    this.hud = new Hud();
    this.camera = new OrbitCamera();
    this.renderer = new Renderer(element("picture"));
    this.arrivals = [];  // when the frames of the last second came
    this.framesSeen = 0;
    this.survey = null;
    this.source = new Source(this);
    this.camera.listenTo(element("picture"));
    this.listen();
    this.source.start();
    const loop = (now) => {
      if (this.source.tick) this.source.tick(now);
      this.draw();
      requestAnimationFrame(loop);
    };
    requestAnimationFrame(loop);
  }

  setInfo(info) {
    this.info = info;
    this.survey = null;
    const components = new Uint8Array(info.component_runs.reduce((sum, [, bodies]) => sum + bodies, 0));
    let at = 0;
    for (const [component, bodies] of info.component_runs) {
      components.fill(component % 256, at, at + bodies);
      at += bodies;
    }
    this.renderer.setComponents(components);
    this.hud.setInfo(info);
  }

  setFrame(frame) {
    this.frame = frame;
    const now = performance.now();
    this.arrivals = this.arrivals.filter((time) => now - time < 1000).concat(now);
    this.renderer.setBodies(frame.bodies);
    // The range of speeds changes slowly: a legend that flickers cannot be read.
    if (this.survey === null) {
      this.survey = surveyFrame(frame);
      this.fit();
    } else if (++this.framesSeen % 30 === 0) {
      const now = surveyFrame(frame);
      this.survey.speeds = this.survey.speeds.map((value, k) => 0.7 * value + 0.3 * now.speeds[k]);
      if (now.lost > 0) this.setMessage("Some bodies are no longer finite numbers.");
    }
    this.hud.setFrame(frame, this.arrivals.length);
  }

  setStatus() {
    const {paused, finished, speed, energy} = this.source.state;
    show("pause", paused ? "Resume" : "Pause");
    element("pause").disabled = element("single").disabled = finished;
    show("speed", speed);
    this.hud.setEnergy(energy);
    if (finished) this.setMessage("The run has ended; this is its last state.");
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

  fit() {
    if (!this.survey) return;
    const {columns, rows} = this.layout();
    this.camera.fit(this.survey.centre, this.survey.radius * (1.1 + 1.5 * (Math.max(columns, rows) - 1)));
  }

  draw() {
    if (!this.survey) return;
    const bySpeed = element("colour_by").value === "speed";
    this.renderer.draw(this.camera, {...this.layout(), bySpeed, speedRange: this.survey.speeds,
                                     size: Number(element("size").value), light: Number(element("light").value)});
    this.hud.setColours(bySpeed, this.survey.speeds, this.info.components);
    this.hud.setScale(this.camera.lengthOfPixel(element("picture").clientHeight));
  }

  listen() {
    const actions = {
      pause: () => this.source.togglePause(),
      single: () => this.source.single(),
      faster: () => this.source.faster(),
      slower: () => this.source.slower(),
      fit: () => this.fit(),
    };
    for (const [id, action] of Object.entries(actions)) element(id).addEventListener("click", action);
    element("apart").addEventListener("change", actions.fit);
    const turn = 0.08;
    const keys = {
      " ": actions.pause, "s": actions.single, ".": actions.faster, ",": actions.slower, "f": actions.fit,
      "c": () => {
        const choice = element("colour_by");
        if (this.info.components.length > 1) choice.value = choice.value === "speed" ? "component" : "speed";
      },
      "ArrowLeft": () => this.camera.rotate(turn, 0), "ArrowRight": () => this.camera.rotate(-turn, 0),
      "ArrowUp": () => this.camera.rotate(0, -turn), "ArrowDown": () => this.camera.rotate(0, turn),
      "+": () => this.camera.zoom(0.9), "=": () => this.camera.zoom(0.9), "-": () => this.camera.zoom(1 / 0.9),
    };
    document.addEventListener("keydown", (event) => {
      // A button or a slider that has the focus handles these keys itself.
      const busy = event.target.matches("input, select") || (event.target.matches("button") && event.key === " ");
      if (busy || event.ctrlKey || event.altKey || event.metaKey || !this.info || !keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });
  }
}

let app = null;
try {
  app = new App();
} catch (error) {
  document.body.classList.add("blank");
  show("message", error.message);
}
