// Returns a body's place in the picture, with x (right) and y (up) from -1 to 1, or null if the
// body is hidden or behind the camera.
function placeInPicture(position, body, matrix, look) {
  const system = Math.floor(body / look.bodiesPerSystem);
  const x = position[0] + look.spacing * (system % look.columns - 0.5 * (look.columns - 1));
  const y = position[1] - look.spacing * (Math.floor(system / look.columns) - 0.5 * (look.rows - 1));
  const clip = [0, 1, 3].map((row) => matrix[row] * x + matrix[4 + row] * y + matrix[8 + row] * position[2] +
      matrix[12 + row]);
  const hidden = look.hidden >> look.componentOf(body) & 1;
  return clip[2] > 0 && !hidden ? [clip[0] / clip[2], clip[1] / clip[2]] : null;
}

// A camera that turns around a point. The camera has two angles and a distance; z points upwards.
"use strict";

class OrbitCamera {
  constructor() {
    this.free = {x: 0, y: 0, halfWidth: 1, halfHeight: 1};
    this.reset();
  }

  reset() {
    this.centre = [0, 0, 0];
    this.distance = 5;
    this.yaw = 0.6;    // radians around z
    this.pitch = 0.9;  // radians above the horizon
    this.fieldOfView = 0.8;
  }

  // Sets the part of the picture that no panel covers. The point around which the camera turns is
  // shown in the middle of this part, and fit() fills only this part. Coordinates run from -1 to 1,
  // and y points upwards.
  setFree({x, y, halfWidth, halfHeight}) { this.free = {x, y, halfWidth, halfHeight}; }

  rotate(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, this.pitch + pitch));
  }

  zoom(factor) {
    this.distance = Math.min(1e12, Math.max(1e-12, this.distance * factor));
  }

  // Makes a ball of this radius fill the free part of the picture.
  fit(centre, radius) {
    this.centre = centre;
    this.distance = radius / Math.sin(this.fieldOfView / 2);
  }

  // Returns the scales in x and y with which a ball just fits into the free part of the picture.
  scales(aspect) {
    const {halfWidth, halfHeight} = this.free, f = 1 / Math.tan(this.fieldOfView / 2);
    const freeAspect = aspect * halfWidth / halfHeight;
    // In a narrow window the width limits the scale.
    return freeAspect < 1 ? [f * halfWidth, f * halfHeight * freeAspect] : [f * halfWidth / freeAspect, f * halfHeight];
  }

  // Returns the length that one pixel covers at the centre, in a picture of this size.
  lengthOfPixel(width, height) {
    return 2 * this.distance / (this.scales(width / height)[1] * height);
  }

  // Returns the matrix in column-major order, for WebGL. There is no depth buffer, so the near and
  // far planes hardly matter.
  matrix(aspect) {
    const [sy, cy, sp, cp] = [Math.sin(this.yaw), Math.cos(this.yaw), Math.sin(this.pitch), Math.cos(this.pitch)];
    const right = [-sy, cy, 0], up = [-sp * cy, -sp * sy, cp], back = [cp * cy, cp * sy, sp];
    const [fx, fy] = this.scales(aspect), {x: left, y: top} = this.free;
    const near = this.distance * 1e-3, far = this.distance * 1e3;
    const depth = (near + far) / (near - far), offset = 2 * near * far / (near - far);
    const along = (axis) => axis[0] * this.centre[0] + axis[1] * this.centre[1] + axis[2] * this.centre[2];
    const z = -along(back) - this.distance;
    const column = (k) => [fx * right[k] - left * back[k], fy * up[k] - top * back[k], depth * back[k], -back[k]];
    return new Float32Array([...column(0), ...column(1), ...column(2),
      -fx * along(right) - left * z, -fy * along(up) - top * z, depth * z + offset, -z]);
  }

  // Handles mouse, pen, fingers and wheel on an element.
  listenTo(element) {
    const fingers = new Map();
    const spread = () => {
      const [a, b] = [...fingers.values()];
      return Math.hypot(a.x - b.x, a.y - b.y);
    };
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    });
    element.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const spreadBefore = fingers.size === 2 ? spread() : 0;
      const now = {x: event.clientX, y: event.clientY};
      fingers.set(event.pointerId, now);
      if (fingers.size === 2) this.zoom(spreadBefore / Math.max(1, spread()));
      else this.rotate((before.x - now.x) * 0.006, (now.y - before.y) * 0.006);
    });
    for (const end of ["pointerup", "pointercancel"])
      element.addEventListener(end, (event) => fingers.delete(event.pointerId));
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(Math.sign(event.deltaY) * Math.min(60, Math.abs(event.deltaY)) * 0.0025));
    }, {passive: false});
  }
}
