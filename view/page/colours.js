// Colours on black that can be distinguished with any kind of colour vision.
"use strict";

// From slow to fast: matplotlib's plasma without its darkest part, so that lightness increases all
// the way.
const SPEED_COLOURS = [[99, 0, 167], [138, 9, 165], [172, 38, 148], [200, 67, 123], [223, 98, 99],
                       [241, 129, 77], [252, 165, 55], [252, 205, 37], [240, 249, 33]];

// Returns a colour of the style sheet, as numbers.
const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
    .match(/[0-9a-f]{2}/g).map((digits) => parseInt(digits, 16));

// Okabe and Ito's palette, dark colours last. Components after the eighth repeat the colours; a
// species has the same colour in every view and picture (tools/nbody_tools/design/tokens.css).
const COMPONENT_COLOURS = [...["dark", "disk", "star", "gas"].map((species) => token(`species-${species}`)),
  [204, 121, 167], ...["bulge", "boundary"].map((species) => token(`species-${species}`)), [0, 114, 178]];

const STAR_COLOUR = 2;  // the yellow of a planetary system's star

const SPECIES_COLOURS = {gas: 3, dark: 0, disk: 1, bulge: 5, star: 2, boundary: 6};

// Returns each component's index in the palette.
const paletteOf = (components) => components.map((name, k) =>
  name in SPECIES_COLOURS ? SPECIES_COLOURS[name] : k % COMPONENT_COLOURS.length);

// Returns the legend's colour for a speed, which is given as a share from 0 (slow) to 1 (fast).
function speedColour(share) {
  const at = Math.min(1, Math.max(0, share || 0)) * (SPEED_COLOURS.length - 1), k = Math.min(SPEED_COLOURS.length - 2, Math.floor(at));
  return SPEED_COLOURS[k].map((c, i) => c + (at - k) * (SPEED_COLOURS[k + 1][i] - c));
}

const css = (colour) => `rgb(${colour.join(" ")})`;
