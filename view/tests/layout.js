// Returns a list of what is wrong on the page that is shown: boxes that overlap or leave the window,
// text that is cut off or has too little contrast, and bodies behind a panel. layout_test.py runs
// this script in the page.
(() => {
  const wrong = [], {innerWidth: width, innerHeight: height} = window;
  const seen = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
  const name = (e) => e.id || e.className || e.textContent.slice(0, 30);
  const boxes = (elements) => elements.filter(seen).map((e) => [name(e), e.getBoundingClientRect()]);

  function checkApart(all, what) {
    all.forEach(([a, one], k) => all.slice(k + 1).forEach(([b, other]) => {
      const w = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const h = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (w > 0.6 && h > 0.6)
        wrong.push(`${what}: ${a} and ${b} overlap by ${w.toFixed(1)} x ${h.toFixed(1)}`);
    }));
  }

  function checkWithin(all) {
    for (const [a, {left, top, right, bottom}] of all)
      if (left < -0.6 || top < -0.6 || right > width + 0.6 || bottom > height + 0.6)
        wrong.push(`${a} leaves the window: ${[left, top, right, bottom].map(Math.round)}`);
  }

  function checkParts(panel) {
    // The dock may be wider than a phone; its cards are moved sideways.
    if (panel.id !== "stairs" && panel.scrollWidth > panel.clientWidth + 1)
      wrong.push(`${panel.id} is cut off at the right`);
    const parts = [...panel.querySelectorAll("button, select, input, output, dt, dd, p, span, h1, label")]
        .filter((e) => seen(e) && e.children.length === 0);
    checkApart(boxes(parts), panel.id);
    for (const e of parts) {
      const isBox = e.clientWidth > 0 && getComputedStyle(e).display !== "inline";
      if (isBox && !e.matches("input, select") && e.scrollWidth > e.clientWidth + 1)
        wrong.push(`text is cut off in ${panel.id}: ${e.textContent}`);
    }
  }

  // Computes the contrast, as WCAG 2 defines it, between a text and the colours behind it.
  const channels = (text) => text.match(/[\d.]+/g).map(Number);
  const rgba = (text) => [...channels(text), 1].slice(0, 4);
  const over = (top, below) => [0, 1, 2].map((k) => top[k] * top[3] + below[k] * (1 - top[3])).concat(1);
  const luminance = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, share, k) => {
    const x = colour[k] / 255;
    return sum + share * (x <= 0.03928 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4));
  }, 0);

  function behind(e) {
    const layers = [];
    for (let at = e; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [0, 0, 0, 1]);
  }

  function checkContrast(e) {
    const ground = behind(e), ink = over(rgba(getComputedStyle(e).color), ground);
    const [low, high] = [luminance(ground), luminance(ink)].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) wrong.push(`contrast ${contrast.toFixed(2)}: ${name(e)}`);
  }

  function checkBodies(panels) {
    const matrix = app.camera.matrix(width / height), look = app.look();
    for (let body = 0; body < app.few.count; ++body) {
      const place = placeInPicture(triple(app.few.now, body), body, matrix, look);
      const x = (place[0] + 1) * width / 2, y = (1 - place[1]) * height / 2, who = app.few.names[body];
      for (const [panel, box] of panels)
        if (x > box.left && x < box.right && y > box.top && y < box.bottom)
          wrong.push(`${who} is behind ${panel}`);
      if (x < 0 || y < 0 || x > width || y > height) wrong.push(`${who} is outside the window`);
    }
  }

  const panels = boxes(["facts", "legend", "message", "stairs", "bar"].map(element));
  const menu = boxes([element("menu")]);
  checkApart([...panels, ...menu], "panels");
  checkWithin([...panels, ...menu, ...boxes([element("keys")])]);
  const labels = boxes([...element("labels").children]);
  checkApart(labels, "names");
  for (const label of labels)
    for (const panel of panels) checkApart([label, panel], "a name and a panel");
  ["facts", "legend", "bar", "menu", "stairs", "keys"].map(element).filter(seen).forEach(checkParts);
  for (const e of document.querySelectorAll("main *")) {
    const hasText = [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (hasText && seen(e) && !e.matches("option, :disabled")) checkContrast(e);
  }
  checkBodies(panels);
  return wrong;
})()
