"""The colours of all figures, from the tokens of all pages (nbody_tools/design/tokens.css).

Names are those of Okabe and Ito's palette, whose colours colour-blind readers can distinguish.
"""

from nbody_tools.design.tokens import colour

BLACK, ORANGE, SKY_BLUE, GREEN = map(colour, ("contrast", "orange", "sky", "green"))
YELLOW, BLUE, VERMILION, PURPLE = map(colour, ("yellow", "blue", "vermilion", "purple"))
GREY = colour("grey")
