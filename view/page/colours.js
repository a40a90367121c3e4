// Colours that people with any kind of colour vision can tell apart, on black.
"use strict";

// Slow to fast: matplotlib's plasma without its darkest part; its lightness only grows.
const SPEED_COLOURS = [[99, 0, 167], [138, 9, 165], [172, 38, 148], [200, 67, 123], [223, 98, 99],
                       [241, 129, 77], [252, 165, 55], [252, 205, 37], [240, 249, 33]];

// Okabe and Ito's, the dark ones last: components beyond them start again.
const COMPONENT_COLOURS = [[86, 180, 233], [230, 159, 0], [240, 228, 66], [0, 158, 115],
                           [204, 121, 167], [213, 94, 0], [235, 235, 235], [0, 114, 178]];

const css = (colour) => `rgb(${colour.join(" ")})`;
