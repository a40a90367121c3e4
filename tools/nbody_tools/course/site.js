// The theme's blocks of code scroll, but a keyboard could not reach them, and the buttons beside
// them are landmarks without a name.
"use strict";
const nameBlocks = () => {
  document.querySelectorAll("pre > code").forEach((code) => { code.tabIndex = 0; });
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => { table.tabIndex = 0; });
  document.querySelectorAll(".md-code__nav").forEach((nav, k) => {
    nav.setAttribute("aria-label", `Buttons of code block ${k + 1}`);
  });
};
addEventListener("DOMContentLoaded", () => {
  nameBlocks();
  new MutationObserver(nameBlocks).observe(document.body, {childList: true, subtree: true});
});
