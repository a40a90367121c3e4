// Lets the keyboard reach the theme's code blocks and tables, so that they can be scrolled. Names the
// group of buttons next to each code block, because these groups are landmarks for screen readers.
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
