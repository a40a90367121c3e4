"""A font in which every character has the same size, so that all machines lay a page out alike."""
import base64
import functools
import io


@functools.cache
def style():
    """Returns a style sheet that shows all text in that font. Making the font needs fontTools,
    which comes with matplotlib."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    for x, y in ((60, 0), (60, 600), (440, 600), (440, 0)):
        (pen.lineTo if pen.points else pen.moveTo)((x, y))
    pen.closePath()
    box = pen.glyph()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "box"])  # .notdef is shown for missing characters
    codes = [*range(0x20, 0x400), *range(0x2000, 0x2300), *range(0x2580, 0x2600)]
    builder.setupCharacterMap({code: "box" for code in codes})
    builder.setupGlyf({".notdef": box, "box": box})
    builder.setupHorizontalMetrics({".notdef": (500, 60), "box": (500, 60)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "fixed", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    file = io.BytesIO()
    builder.save(file)
    data = base64.b64encode(file.getvalue()).decode()
    return (f"@font-face {{ font-family: fixed; src: url(data:font/ttf;base64,{data}); }}"
            "* { font-family: fixed !important; }")
