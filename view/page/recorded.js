// Plays frames stored in the page itself, as base64.
"use strict";

class Source {
  constructor(app) {
    this.app = app;
    this.texts = [...document.querySelectorAll("script.frame")].map((script) => script.textContent);
    this.at = 0;
    // A film does not start by itself if the user has asked the system for less motion.
    this.paused = this.texts.length < 2 || matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.framesPerSecond = 30;
    document.body.classList.add("has_recording");
    const slider = element("position");
    slider.max = this.texts.length - 1;
    slider.addEventListener("input", () => {
      this.paused = true;
      this.show(Number(slider.value));
    });
  }

  start() {
    this.app.setInfo(JSON.parse(element("info").textContent));
    this.show(0);
    this.last = performance.now();
  }

  show(k) {
    const bytes = atob(this.texts[k]), buffer = new Uint8Array(bytes.length);
    for (let i = 0; i < bytes.length; ++i) buffer[i] = bytes.charCodeAt(i);
    this.at = k;
    element("position").value = k;
    this.app.setFrame(decodeFrame(buffer.buffer));
    this.app.setStatus();
  }

  rewind() { this.show(0); }

  // Called before each redraw.
  tick(now) {
    const due = 1000 / this.framesPerSecond;
    if (this.paused || now - this.last < due - 2) return;
    this.last = Math.max(this.last + due, now - due);
    this.show((this.at + 1) % this.texts.length);
  }

  get state() {
    return {paused: this.paused, finished: false, speed: `${this.framesPerSecond} frames/s`};
  }

  togglePause() {
    this.paused = !this.paused;
    this.app.setStatus();
  }
  single() {
    this.paused = true;
    this.show((this.at + 1) % this.texts.length);
  }
  faster() { this.setSpeed(this.framesPerSecond * 2); }
  slower() { this.setSpeed(this.framesPerSecond / 2); }
  setSpeed(framesPerSecond) {
    this.framesPerSecond = Math.min(60, Math.max(0.9375, framesPerSecond));
    this.app.setStatus();
  }
}
