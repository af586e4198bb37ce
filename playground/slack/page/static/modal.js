// Modals: the view on top, what is typed into it, and what is wrong with that.

import { blocks } from "./blocks.js";
import { el, fill } from "./dom.js";
import { text } from "./mrkdwn.js";
import { Surface } from "./surface.js";
import { act, world } from "./world.js";

let shown = null;

/** Show the view on top of the person's open modal, or none. */
export function showModal() {
  const stack = world.state.modal;
  const view = stack.at(-1);
  if (!view) return hide();
  if (shown?.view.id !== view.id || shown.view.hash !== view.hash) build(view, stack.length);
  errors(view.errors);
  return undefined;
}

function hide() {
  const box = shown?.box;
  shown = null;
  box?.close();
  box?.remove();
}

function build(view, depth) {
  const surface = new Surface({ where: { view_id: view.id }, values: view.state.values, modal: true });
  if (shown?.view.id === view.id) surface.resume(shown.surface, view.blocks);
  const box = shown?.box ?? made();
  shown = { view, surface, box };
  const close = (everything) => () => act("close", { view_id: view.id, everything });
  fill(
    box,
    el(
      "form",
      { novalidate: true, on: { submit: (event) => submit(event, view, surface) } },
      el(
        "div",
        { class: "top" },
        depth > 1 && el("button", { type: "button", class: "plain", "aria-label": "Back", on: { click: close(false) } }, "‹"),
        el("h2", { id: "modal-title" }, text(view.title)),
        el("button", { type: "button", class: "plain", "aria-label": "Close the window", on: { click: close(true) } }, "✕"),
      ),
      el("div", { class: "inside" }, el("p", { class: "error trouble", role: "alert" }), blocks(surface, view.blocks)),
      el(
        "div",
        { class: "foot" },
        el("button", { type: "button", class: "button", on: { click: close(false) } }, view.close ? text(view.close) : "Cancel"),
        view.submit && el("button", { type: "submit", class: "button primary" }, text(view.submit)),
      ),
    ),
  );
  const first = ".inside input, .inside textarea, .inside button, [type=submit]";
  (box.querySelector("[autofocus]") ?? box.querySelector(first))?.focus();
}

function made() {
  const box = el("dialog", { id: "modal", "aria-labelledby": "modal-title" });
  box.addEventListener("cancel", (event) => {
    if (event.target !== box) return;
    event.preventDefault();
    act("close", { view_id: shown.view.id, everything: true });
  });
  document.body.append(box);
  box.showModal();
  return box;
}

async function submit(event, view, surface) {
  event.preventDefault();
  const button = shown.box.querySelector("[type=submit]");
  if (!button || button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  const answer = await act("submit", { view_id: view.id, values: surface.typed });
  button.removeAttribute("aria-busy");
  if (!answer.ok) errors({ "": answer.error });
  else if (Object.keys(answer.errors ?? {}).length) focusFirst(answer.errors);
}

/** Write each sentence under its field; the one without a field stands on top. */
function errors(said) {
  if (!shown) return;
  for (const field of shown.box.querySelectorAll("[data-block]")) {
    const sentence = said[field.dataset.block] ?? "";
    field.querySelector(".error").textContent = sentence;
    field.classList.toggle("wrong", Boolean(sentence));
    for (const one of field.querySelectorAll("input, textarea, .select")) {
      one.setAttribute("aria-invalid", String(Boolean(sentence)));
    }
  }
  shown.box.querySelector(".trouble").textContent = said[""] ?? "";
}

function focusFirst(said) {
  errors(said);
  shown?.box.querySelector(".wrong input, .wrong textarea, .wrong button")?.focus();
}
