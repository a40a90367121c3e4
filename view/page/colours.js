// Colours on black that can be distinguished with any kind of colour vision.
"use strict";

// From slow to fast: matplotlib's plasma without its darkest part, so that lightness increases all
// the way.
const SPEED_COLOURS = [[99, 0, 167], [138, 9, 165], [172, 38, 148], [200, 67, 123], [223, 98, 99],
                       [241, 129, 77], [252, 165, 55], [252, 205, 37], [240, 249, 33]];

// Okabe and Ito's palette, dark colours last. Components after the eighth repeat the colours; a
// species has the same colour in every view and picture (tools/nbody_tools/figures/style.py).
const COMPONENT_COLOURS = [[86, 180, 233], [230, 159, 0], [240, 228, 66], [0, 158, 115],
                           [204, 121, 167], [213, 94, 0], [235, 235, 235], [0, 114, 178]];

const SPECIES_COLOURS = {gas: 3, dark: 0, disk: 1, bulge: 5, star: 2, boundary: 6};

// Returns each component's index in the palette.
const paletteOf = (components) => components.map((name, k) =>
  name in SPECIES_COLOURS ? SPECIES_COLOURS[name] : k % COMPONENT_COLOURS.length);

const css = (colour) => `rgb(${colour.join(" ")})`;
