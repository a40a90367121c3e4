// Keyboard bindings. The list that the page shows is made from the same table.
"use strict";

class Keys {
  // bindings: {shown, keys, text, run}, in the order of the list; `shown` is what the list shows for
  // the keys.
  constructor(bindings, closeMenu) {
    const actions = new Map(bindings.flatMap(({keys, run}) => keys.map((key) => [key, run])));
    element("key_list").replaceChildren(...bindings.map(({shown, text}) => {
      const row = make("div");
      row.append(make("dt", {textContent: shown}), make("dd", {textContent: text}));
      return row;
    }));
    for (const id of ["show_keys", "hide_keys"]) element(id).addEventListener("click", () => this.toggle());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return element("keys").hidden ? closeMenu() : this.toggle();
      // A focused button or slider handles these keys itself.
      const busy = event.target.matches("input, select") || (event.target.matches("button") && event.key === " ");
      if (busy || event.ctrlKey || event.altKey || event.metaKey || !actions.has(event.key)) return;
      actions.get(event.key)(event.key);
      event.preventDefault();
    });
  }

  toggle() {
    element("keys").hidden = !element("keys").hidden;
    (element("keys").hidden ? element("picture") : element("hide_keys")).focus();
  }
}
