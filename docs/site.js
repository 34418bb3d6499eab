// Wide tables scroll in a frame that the theme puts around them; keys must reach it.
document$.subscribe(() => setTimeout(() => {
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap")) frame.tabIndex = 0;
}));
