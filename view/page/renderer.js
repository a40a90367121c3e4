// Draws bodies as glowing points. The light of all points is added up in floating point and then
// mapped to the screen's range, so that a dense centre is bright but keeps its colour.
"use strict";

const BODY_SHADER = `#version 300 es
layout(location = 0) in vec4 body;  // x, y, z, speed
layout(location = 1) in float component;
layout(location = 2) in float size;  // 1 unless there are only a few bodies
layout(location = 3) in float own;   // palette index of the body, if there are few
uniform mat4 view;
uniform int bodies_per_system, columns, rows;
uniform float spacing;        // distance between systems
uniform float point_pixels;   // diameter of a body at the distance of the centre
uniform float distance_to_centre;
uniform vec2 speed_range;
uniform int colour_by;        // 0: speed, 1: component, 2: own
uniform sampler2D speed_colours, component_colours;
uniform float palette[8];     // palette indices of components
uniform int hidden;           // a bit for each component
out vec3 light;

void main() {
  int system = gl_VertexID / bodies_per_system;
  vec2 place = vec2(system % columns, system / columns) - 0.5 * vec2(columns - 1, rows - 1);
  gl_Position = view * vec4(body.xyz + vec3(spacing * place.x, -spacing * place.y, 0.0), 1.0);
  float pixels = size * point_pixels * distance_to_centre / max(gl_Position.w, 1e-30);
  // A point is at least a pixel and a half wide; a smaller one is dimmed instead. A body just in
  // front of the camera does not cover the others.
  pixels = min(pixels, 4.0 * size * point_pixels);
  gl_PointSize = clamp(pixels, 1.5, 80.0);
  float share = clamp(speed_range.y > speed_range.x
      ? (body.w - speed_range.x) / (speed_range.y - speed_range.x) : 0.5, 0.0, 1.0);
  int of_palette = colour_by == 2 ? int(own) : int(palette[int(component) % 8]);
  vec3 colour = colour_by == 0
      ? texture(speed_colours, vec2((share * 8.0 + 0.5) / 9.0, 0.5)).rgb
      : texelFetch(component_colours, ivec2(of_palette, 0), 0).rgb;
  light = colour * colour * clamp(pixels * pixels / 2.25, 0.05, 1.0);  // linear light
  // A body that is NaN or infinite is not drawn.
  bool off = component < 31.0 && (hidden >> int(component) & 1) == 1;
  if (off || !(dot(body, body) < 1e37)) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

const TRAIL_SHADER = `#version 300 es
layout(location = 0) in vec4 point;  // x, y, z, age from 0 to 1
uniform mat4 view;
uniform vec3 place, colour;
uniform vec2 nudge;  // a shift in the picture
out vec3 light;

void main() {
  gl_Position = view * vec4(point.xyz + place, 1.0);
  gl_Position.xy += nudge * gl_Position.w;
  light = colour * colour * (1.0 - point.w);
  if (!(dot(point, point) < 1e37)) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

const LINE_SHADER = `#version 300 es
precision highp float;
in vec3 light;
out vec4 sum;
void main() { sum = vec4(0.5 * light, 1.0); }`;

const GLOW_SHADER = `#version 300 es
precision highp float;
in vec3 light;
uniform float strength;
out vec4 sum;

void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  float r = dot(p, p);
  if (r > 1.0) discard;
  sum = vec4(light * strength * (exp(-5.0 * r) - 0.0067), 1.0);
}`;

const SCREEN_SHADER = `#version 300 es
void main() {  // one triangle that covers the screen
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}`;

const TONE_SHADER = `#version 300 es
precision highp float;
uniform sampler2D sum;
out vec4 colour;

void main() {
  vec3 light = texelFetch(sum, ivec2(gl_FragCoord.xy), 0).rgb;
  float brightest = max(light.r, max(light.g, light.b));
  // Almost linear where few bodies overlap, logarithmic where thousands do, so that a dense core
  // keeps its structure (Lupton et al. 2004, PASP 116, 133).
  float shown = min(1.0, asinh(8.0 * brightest) / asinh(8.0 * 40.0));
  vec3 hue = light / max(brightest, 1e-6);
  hue = mix(hue, vec3(1.0), smoothstep(0.7, 1.0, shown) * 0.7);
  colour = vec4(sqrt(hue * shown) + vec3(0.018, 0.026, 0.045), 1.0);
}`;

// If there are many bodies, their trails show at most this many earlier frames and this many points.
const TRAIL_STATES = 30, TRAIL_POINTS = 1 << 20;

const THICK = [[-0.5, 0], [0.5, 0], [0, -0.5], [0, 0.5]];
const RING_COLOUR = [120, 128, 145];

class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", {antialias: false, alpha: false, powerPreference: "high-performance"});
    if (!gl) throw new Error("This page needs WebGL 2, which this browser does not support or has switched off.");
    this.gl = gl;
    this.canvas = canvas;
    // Without floating-point render targets, light saturates earlier.
    this.format = gl.getExtension("EXT_color_buffer_float") || gl.getExtension("EXT_color_buffer_half_float")
        ? gl.RGBA16F : gl.RGBA8;
    this.bodies = this.program(BODY_SHADER, GLOW_SHADER);
    this.lines = this.program(TRAIL_SHADER, LINE_SHADER);
    this.tone = this.program(SCREEN_SHADER, TONE_SHADER);
    this.speedColours = this.palette(SPEED_COLOURS, gl.LINEAR);
    this.componentColours = this.palette(COMPONENT_COLOURS, gl.NEAREST);
    this.target = gl.createTexture();
    this.framebuffer = gl.createFramebuffer();
    this.bodyBuffer = gl.createBuffer();
    this.past = [];  // earlier frames' buffers, the oldest first
    this.componentBuffer = gl.createBuffer();
    this.vertices = gl.createVertexArray();
    gl.bindVertexArray(this.vertices);
    gl.enableVertexAttribArray(0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.componentBuffer);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 1, gl.UNSIGNED_BYTE, false, 1, 0);
    this.sizeBuffer = gl.createBuffer();
    this.ownBuffer = gl.createBuffer();
    this.trailBuffer = gl.createBuffer();
    this.trailVertices = gl.createVertexArray();
    gl.bindVertexArray(this.trailVertices);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.trailBuffer);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 16, 0);
    this.count = 0;
    this.size = [0, 0];
  }

  program(vertexSource, fragmentSource) {
    const gl = this.gl, program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, vertexSource], [gl.FRAGMENT_SHADER, fragmentSource]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
        throw new Error("This browser cannot compile a shader:  " + gl.getShaderInfoLog(shader));
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
      throw new Error("This browser cannot link the shaders: " + gl.getProgramInfoLog(program));
    const uniforms = {};
    for (let k = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k-- > 0;) {
      const name = gl.getActiveUniform(program, k).name;
      uniforms[name] = gl.getUniformLocation(program, name);
    }
    return {program, uniforms};
  }

  palette(colours, filter) {
    const gl = this.gl, texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB8, colours.length, 1, 0, gl.RGB, gl.UNSIGNED_BYTE,
                  new Uint8Array(colours.flat()));
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    return texture;
  }

  // Takes one number from 0 to 255 per body of a frame.
  setComponents(components) {
    const gl = this.gl;
    this.clearTrails();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.componentBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, components, gl.STATIC_DRAW);
    this.componentCount = components.length;
  }

  // Takes a size and a palette index per body; called if there are only a few bodies. Otherwise all
  // bodies have the same size.
  setFew(sizes, colours) {
    const gl = this.gl;
    gl.bindVertexArray(this.vertices);
    for (const [place, buffer, values, type] of [[2, this.sizeBuffer, sizes, gl.FLOAT], [3, this.ownBuffer, colours, gl.UNSIGNED_BYTE]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
      if (values.length > 0) gl.enableVertexAttribArray(place);
      else gl.disableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 1, type, false, 0, 0);
      gl.vertexAttrib1f(place, 1);
    }
    this.areFew = sizes.length > 0;
  }

  clearTrails() { for (const buffer of this.past.splice(0)) this.gl.deleteBuffer(buffer); }

  setBodies(bodies, hasTrails) {
    const gl = this.gl;
    if (!hasTrails) {
      this.clearTrails();
    } else if (this.count > 0) {
      this.past.push(this.bodyBuffer);
      const states = Math.min(TRAIL_STATES, Math.floor(TRAIL_POINTS / this.count));
      this.bodyBuffer = this.past.length > states ? this.past.shift() : gl.createBuffer();
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.bodyBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, bodies, gl.STREAM_DRAW);
    this.count = Math.min(bodies.length / 4, this.componentCount);
  }

  resize() {
    const gl = this.gl, ratio = Math.min(2, window.devicePixelRatio || 1);
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (width === this.size[0] && height === this.size[1]) return;
    this.size = [this.canvas.width, this.canvas.height] = [width, height];
    gl.bindTexture(gl.TEXTURE_2D, this.target);
    const type = this.format === gl.RGBA8 ? gl.UNSIGNED_BYTE : gl.HALF_FLOAT;
    gl.texImage2D(gl.TEXTURE_2D, 0, this.format, width, height, 0, gl.RGBA, type, null);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.framebuffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.target, 0);
  }

  setLines(points, view) {
    const gl = this.gl, {program, uniforms} = this.lines;
    gl.useProgram(program);
    gl.uniformMatrix4fv(uniforms.view, false, view);
    gl.bindVertexArray(this.trailVertices);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.trailBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, points, gl.STREAM_DRAW);
  }

  // Draws `count` points of a system as lines, once for each shift in `nudges`, in pixels. Several
  // shifts make a thick line, because WebGL draws lines only one pixel wide.
  drawLines(kind, first, count, system, colour, look, nudges = [[0, 0]]) {
    const gl = this.gl, {uniforms} = this.lines;
    gl.uniform3f(uniforms.place, look.spacing * (system % look.columns - 0.5 * (look.columns - 1)),
                 -look.spacing * (Math.floor(system / look.columns) - 0.5 * (look.rows - 1)), 0);
    gl.uniform3fv(uniforms.colour, colour.map((c) => c / 255));
    for (const [x, y] of nudges) {
      gl.uniform2f(uniforms.nudge, 2 * x / this.size[0], 2 * y / this.size[1]);
      gl.drawArrays(kind, first, count);
    }
  }

  drawTrails({points, length, bodies}, view, look) {
    this.setLines(points, view);
    for (let body = 0; body < bodies; ++body) {
      const component = look.componentOf(body), system = Math.floor(body / look.bodiesPerSystem);
      if (look.hidden >> component & 1) continue;
      this.drawLines(this.gl.LINE_STRIP, body * length, length, system, look.bodyColour(body), look, THICK);
    }
  }

  drawLoops(loops, view, look) {
    for (const {body, points} of loops) {
      if (body >= 0 && look.hidden >> look.componentOf(body) & 1) continue;
      this.setLines(points, view);
      this.drawLines(this.gl.LINE_STRIP, 0, points.length / 4, Math.max(0, Math.floor(body / look.bodiesPerSystem)),
                     body < 0 ? RING_COLOUR : look.bodyColour(body), look);
    }
  }

  drawCells(cells, view, look) {
    for (const {system, points, colour} of cells) {
      this.setLines(points, view);
      this.drawLines(this.gl.LINES, 0, points.length / 4, system, colour, look);
    }
  }

  drawBodies(buffer, strength) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 16, 0);
    gl.uniform1f(this.bodies.uniforms.strength, strength);
    gl.drawArrays(gl.POINTS, 0, this.count);
  }

  // look: {bodiesPerSystem, columns, rows, spacing, speedRange, colourBy, palette, hidden, size,
  // light, cells, componentOf}; if there are few bodies, also {trails, loops, bodyColour}
  draw(camera, look) {
    const gl = this.gl;
    this.resize();
    const [width, height] = this.size;
    gl.viewport(0, 0, width, height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.framebuffer);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);

    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    const view = camera.matrix(width / height);
    this.drawLoops(look.loops, view, look);
    if (look.trails) this.drawTrails(look.trails, view, look);
    this.drawCells(look.cells, view, look);
    const {program, uniforms} = this.bodies;
    gl.useProgram(program);
    gl.uniformMatrix4fv(uniforms.view, false, view);
    gl.uniform1i(uniforms.bodies_per_system, look.bodiesPerSystem);
    gl.uniform1i(uniforms.columns, look.columns);
    gl.uniform1i(uniforms.rows, look.rows);
    gl.uniform1f(uniforms.spacing, look.spacing);
    gl.uniform1f(uniforms.distance_to_centre, camera.distance);
    gl.uniform2fv(uniforms.speed_range, look.speedRange);
    gl.uniform1i(uniforms.colour_by, ["speed", "component", "body"].indexOf(look.colourBy));
    gl.uniform1i(uniforms.hidden, look.hidden);
    gl.uniform1fv(uniforms["palette[0]"], Array.from({length: 8}, (_, k) => look.palette[k] ?? k));
    // Draws few bodies large, many small and faint, with about the same total light.
    const scale = height / 900, pixels = scale * (this.areFew ? 44 : 26) * Math.pow(Math.max(1, this.count), -0.17);
    gl.uniform1f(uniforms.point_pixels, pixels * Math.pow(2, look.size));
    gl.uniform1i(uniforms.speed_colours, 0);
    gl.uniform1i(uniforms.component_colours, 1);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.speedColours);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.componentColours);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindVertexArray(this.vertices);
    if (this.count > 0) {
      const strength = Math.min(4, 260 / Math.sqrt(this.count)) * Math.pow(2, look.light);
      this.past.forEach((buffer, k) => this.drawBodies(buffer, 0.3 * strength * (k + 1) / this.past.length));
      this.drawBodies(this.bodyBuffer, strength);
    }

    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.BLEND);
    gl.useProgram(this.tone.program);
    gl.bindTexture(gl.TEXTURE_2D, this.target);
    gl.uniform1i(this.tone.uniforms.sum, 0);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}
