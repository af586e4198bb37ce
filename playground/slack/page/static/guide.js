// The short way through for somebody who is here for the first time.

import { el, fill, redraw } from "./dom.js";
import { heard } from "./messages.js";
import { world } from "./world.js";

const CLOSED = "guide-closed";
const done = new Set();

/** Show the guide's steps, the next one marked; what people do ticks them. */
export function showGuide(box) {
  const guide = world.state.guide;
  if (!guide || sessionStorage.getItem(CLOSED)) return;
  const close = () => {
    sessionStorage.setItem(CLOSED, "yes");
    fill(box);
  };
  const next = guide.steps.findIndex((one, place) => !done.has(place));
  redraw(box, [...done], () =>
    el(
      "div",
      { class: "guide", role: "note", "aria-label": "First steps" },
      el("ol", {}, guide.steps.map((one, place) =>
        el("li", { value: place + 1, class: done.has(place) ? "done" : place === next ? "next" : null }, one.text,
          done.has(place) && el("span", { class: "quiet" }, " ✓")))),
      el("button", { type: "button", class: "plain", "aria-label": "Close the guide", on: { click: close } }, "✕"),
    ),
  );
}

/** Tick the steps that an act completes, and show them at once. */
export function follow(box) {
  heard.tell = (what) => {
    world.state?.guide?.steps.forEach((one, place) => {
      if (one.done === what) done.add(place);
    });
    showGuide(box);
  };
}
