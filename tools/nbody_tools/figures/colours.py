"""The colours of all figures, from the tokens of all pages (nbody_tools/design/tokens.css).

The names come from Okabe and Ito's palette. Colour-blind readers can distinguish its colours.
"""

from nbody_tools.design.tokens import colour

BLACK, ORANGE, SKY_BLUE, GREEN = map(colour, ("contrast", "orange", "sky", "green"))
YELLOW, BLUE, VERMILION, PURPLE = map(colour, ("yellow", "blue", "vermilion", "purple"))
GREY = colour("grey")
