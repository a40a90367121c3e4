// Draws one request of a warp: the sectors of global memory that its lanes access, or the words of each bank.
"use strict";

const WORD = 4, SECTOR = 32, BANKS = 32, WIDTH = 960;

class Drawing {
  constructor() { this.parts = []; }
  box(kind, x, y, w, h, title) { this.parts.push(`<rect class="${kind}" x="${x}" y="${y}" width="${w}" height="${h}"><title>${title}</title></rect>`); }
  text(x, y, text, kind = "") { this.parts.push(`<text class="${kind}" x="${x}" y="${y}">${text}</text>`); }
  line(x1, y1, x2, y2) { this.parts.push(`<line class="arrow" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`); }
  svg(height, label) { return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">${this.parts.join("")}</svg>`; }
}

// Returns [lane, offset] for each lane that takes part in the request.
const active = (access) => access.offsets.map((offset, lane) => [lane, offset]).filter(([, offset]) => offset !== null);

const laneAt = (lane) => 10 + (lane + 0.5) * (WIDTH - 20) / 32;

function drawLanes(drawing, access, y) {
  access.offsets.forEach((offset, lane) => {
    drawing.box(offset === null ? "off" : "lane", laneAt(lane) - 12, y, 24, 18, `lane ${lane}`);
    drawing.text(laneAt(lane), y + 13, lane);
  });
}

function sectorsOf(access) {
  const sectors = new Set();
  for (const [, offset] of active(access))
    for (let byte = offset - offset % SECTOR; byte < offset + access.bytes; byte += SECTOR) sectors.add(byte / SECTOR);
  return [...sectors].sort((a, b) => a - b);
}

function drawSectors(access) {
  const drawing = new Drawing(), sectors = sectorsOf(access), each = Math.min(64, (WIDTH - 20) / sectors.length), top = 96;
  const start = (WIDTH - each * sectors.length) / 2, byteAt = (byte) =>
    start + each * sectors.indexOf(Math.floor(byte / SECTOR)) + (each - 3) * (byte % SECTOR) / SECTOR;
  for (const [lane, offset] of active(access)) drawing.line(laneAt(lane), 24, byteAt(offset) + (each - 3) * Math.min(access.bytes, SECTOR) / SECTOR / 2, top);
  drawLanes(drawing, access, 6);
  sectors.forEach((sector, k) => drawing.box("unused sector", start + each * k, top, each - 3, 34, `sector ${sector}`));
  const used = new Map();
  for (const [, offset] of active(access))
    for (let byte = offset; byte < offset + access.bytes; ++byte) used.set(byte, (used.get(byte) || 0) + 1);
  for (const [byte, lanes] of used)
    drawing.box(lanes > 1 ? "shared" : "used", byteAt(byte), top + 3, (each - 3) / SECTOR + 0.15, 28, `byte ${byte}: ${lanes} lane${lanes > 1 ? "s" : ""}`);
  drawing.text(WIDTH / 2, top + 54, "sectors of 32 bytes; blue: bytes that a lane requested, orange: several lanes, grey: fetched but unused");
  return {svg: drawing.svg(top + 64, "sectors"), count: sectors.length, used: used.size / (SECTOR * sectors.length)};
}

// Returns, for each bank, the words that it must deliver, and the lanes that request each word.
function banksOf(access) {
  const banks = Array.from({length: BANKS}, () => new Map());
  for (const [lane, offset] of active(access))
    for (let word = Math.floor(offset / WORD); word * WORD < offset + access.bytes; ++word)
      banks[word % BANKS].set(word, (banks[word % BANKS].get(word) || []).concat(lane));
  return banks;
}

function drawBanks(access) {
  const drawing = new Drawing(), banks = banksOf(access), deepest = Math.max(...banks.map((words) => words.size)), top = 30;
  const height = Math.max(12, Math.min(24, 420 / deepest));
  banks.forEach((words, bank) => {
    drawing.text(laneAt(bank), 18, bank);
    [...words].forEach(([word, lanes], k) => {
      const several = lanes.length > 1;
      drawing.box(several ? "shared word" : "used word", laneAt(bank) - 13, top + k * height, 26, height - 2, `word ${word}: lanes ${lanes.join(", ")}`);
      drawing.text(laneAt(bank), top + k * height + height / 2 + 3, several ? `×${lanes.length}` : lanes[0], several ? "dark" : "light");
    });
    if (words.size === 0) drawing.box("unused", laneAt(bank) - 13, top, 26, height - 2, `bank ${bank}: nothing`);
  });
  drawing.text(WIDTH / 2, top + deepest * height + 18, "banks of shared memory; in each bank, its words with the lane that accesses them, or the number of lanes");
  return {svg: drawing.svg(top + deepest * height + 28, "banks"), deepest};
}
