// Decodes the frames that the program sends; docs/view.md describes their layout.
"use strict";

function decodeFrame(buffer) {
  const view = new DataView(buffer);
  const magic = buffer.byteLength >= 64 ? String.fromCharCode(...new Uint8Array(buffer, 0, 4)) : "";
  if (magic !== "NBVF" || view.getUint32(4, true) !== 1)
    throw new Error("this is not a frame of version 1");
  const header = view.getUint32(8, true), count = view.getUint32(12, true);
  if (buffer.byteLength !== header + 16 * count) throw new Error("a frame is cut off");
  return {
    count,
    step: Number(view.getBigInt64(16, true)),
    time: view.getFloat64(24, true),
    stepsPerSecond: view.getFloat64(32, true),
    interactionsPerSecond: view.getFloat64(40, true),
    energyError: view.getFloat64(48, true),
    number: Number(view.getBigUint64(56, true)),
    // Each body's velocity; null unless there are few bodies.
    velocities: header >= 64 + 12 * count ? new Float32Array(buffer, 64, 3 * count) : null,
    bodies: new Float32Array(buffer, header, 4 * count),  // each body's x, y, z and speed
  };
}

function quantile(sorted, fraction) {
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))];
}

// Finds the extent and the speeds of a frame's bodies, from a sample of a few thousand. Non-finite
// bodies are counted as lost.
function surveyFrame(frame) {
  const columns = [[], [], [], []];
  const stride = Math.max(1, Math.floor(frame.count / 4000));
  let lost = 0;
  for (let i = 0; i < frame.count; i += stride) {
    const body = frame.bodies.subarray(4 * i, 4 * i + 4);
    if (body.every(Number.isFinite)) body.forEach((value, k) => columns[k].push(value));
    else ++lost;
  }
  if (columns[0].length === 0) return {centre: [0, 0, 0], radius: 1, speeds: [0, 1], lost};
  const sorted = columns.map((column) => Float64Array.from(column).sort());
  const few = frame.count < 100;
  const centre = sorted.slice(0, 3).map((column) => few ? (column[0] + column[column.length - 1]) / 2 : quantile(column, 0.5));
  const distances = Float64Array.from(columns[0], (x, i) =>
    Math.hypot(x - centre[0], columns[1][i] - centre[1], columns[2][i] - centre[2])).sort();
  // If there are few bodies, the radius includes all of them. If there are many, the radius
  // excludes the outermost ones, which would shrink the rest to a dot.
  const radius = quantile(distances, few ? 1 : 0.88);
  const speeds = [quantile(sorted[3], 0.02), quantile(sorted[3], 0.98)];
  return {centre, radius: radius > 0 ? radius : 1, speeds, lost};
}
