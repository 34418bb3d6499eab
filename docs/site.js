// Wide tables scroll in a frame that the theme puts around them; keys must reach it. The toolbars of code blocks are
// landmarks, which need names of their own.
document$.subscribe(() => setTimeout(() => {
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap")) frame.tabIndex = 0;
  document.querySelectorAll("nav.md-code__nav").forEach((bar, i) => bar.setAttribute("aria-label", `Code block ${i + 1}`));
}));
