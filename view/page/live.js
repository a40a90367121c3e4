// Receives frames from a running program. At first the page requests two frames; for every frame that
// arrives, it requests another. Therefore, even over a slow connection, a frame is at most two frames
// old when it arrives, and nothing queues up.
"use strict";

class Source {
  constructor(app) {
    this.app = app;
    this.status = {paused: false, finished: false, steps_per_frame: 1, energy: null};
  }

  start() {
    this.socket = new WebSocket(`ws://${location.host}${location.pathname}socket`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.app.setMessage("");
      this.send({type: "next"});
      this.send({type: "next"});
    };
    this.socket.onmessage = (event) => this.take(event.data);
    this.socket.onclose = () => {
      this.app.setMessage("Not connected: the program or the tunnel to it has ended.");
      setTimeout(() => this.start(), 2000);
    };
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  take(data) {
    if (data instanceof ArrayBuffer) {
      this.app.setFrame(decodeFrame(data));
      this.send({type: "next"});
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "info") this.app.setInfo(message);
    if (message.type === "stairs") this.app.setStairs(message);
    if (message.type === "error") console.warn(message.message);
    if (message.type === "status") {
      this.status = message;
      this.app.setStatus();
    }
  }

  get state() {
    const {finished, paused, steps_per_frame: steps, energy} = this.status;
    const speed = steps === 0 ? "full speed" : steps === 1 ? "1 step/frame" : `${count(steps)} steps/frame`;
    return {paused, finished, speed, energy, forces: this.status};
  }

  togglePause() { this.send({type: this.status.paused ? "resume" : "pause"}); }
  single() { this.send({type: this.status.paused ? "step" : "pause"}); }

  // Doubles the steps per frame. After 65536 comes 0, which means as many as the program can compute.
  faster() {
    const steps = this.status.steps_per_frame;
    if (steps > 0) this.setSpeed(steps * 2 > 65536 ? 0 : steps * 2);
  }
  slower() {
    const steps = this.status.steps_per_frame;
    this.setSpeed(steps === 0 ? 65536 : Math.max(1, Math.floor(steps / 2)));
  }
  fullSpeed() { this.setSpeed(0); }
  rewind() {}  // a run cannot rewind
  setStair(stair) { this.send({type: "stair", stair}); }
  setForces(forces) { this.send({type: "forces", ...forces}); }
  setSpeed(steps) { this.send({type: "speed", steps_per_frame: steps}); }
}
