// Menus that open beside a control: the browser closes them on Escape or a click elsewhere.

import { el, fill, newId } from "./dom.js";

const GAP = 4;

/** Open a box beside a control; it is removed when it closes, and the control has the focus again. */
export function open(control, box) {
  const home = control.closest("dialog") ?? document.body;
  box.setAttribute("popover", "auto");
  box.classList.add("popover");
  home.append(box);
  control.setAttribute("aria-expanded", "true");
  box.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    control.setAttribute("aria-expanded", "false");
    const inside = box.contains(document.activeElement);
    box.remove();
    if (inside && control.isConnected) control.focus();
  });
  box.showPopover();
  settle(control, box);
}

function settle(control, box) {
  const at = control.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = Math.max(8, Math.min(at.left, innerWidth - width - 8));
  const below = at.bottom + GAP + height < innerHeight;
  const top = below ? at.bottom + GAP : Math.max(8, at.top - GAP - height);
  box.style.left = `${left}px`;
  box.style.top = `${top}px`;
}

/** Open a menu of `{label, note, run, danger}`; arrow keys move through it. */
export function menu(control, label, entries) {
  const box = el("div", { role: "menu", "aria-label": label });
  const items = entries.map((one) => {
    const click = () => {
      box.hidePopover();
      one.run(control);
    };
    return el(
      "button",
      { role: "menuitem", type: "button", class: one.danger ? "danger" : null, on: { click } },
      el("span", {}, one.label),
      one.note && el("small", {}, one.note),
    );
  });
  fill(box, items);
  box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const now = items.indexOf(document.activeElement);
    items[(now + step + items.length) % items.length].focus();
  });
  open(control, box);
  items[0]?.focus();
}

/**
 * Open a list to choose from, with a field to search it.
 *
 * `find(typed)` returns options `{value, label, note, group}`; `picked(options)` gets what was chosen.
 */
export function chooser(control, { label, find, several, most, chosen, picked }) {
  const list = newId();
  const search = el("input", {
    type: "search", role: "combobox", "aria-expanded": "true", "aria-controls": list,
    "aria-label": `Search: ${label}`, placeholder: "Search", autocomplete: "off",
  });
  const shown = el("div", { role: "listbox", id: list, "aria-label": label, "aria-multiselectable": several });
  const box = el("div", { class: "chooser" }, search, shown);
  let options = [];
  let kept = [...chosen];
  let active = 0;
  const isKept = (one) => kept.some((other) => other.value === one.value);

  function choose(one) {
    if (!several) {
      picked([one]);
      box.hidePopover();
      return;
    }
    if (isKept(one)) kept = kept.filter((other) => other.value !== one.value);
    else if (!most || kept.length < most) kept = [...kept, one];
    picked(kept);
    draw();
  }

  function draw() {
    let group = "";
    fill(
      shown,
      options.length ? [] : el("p", { class: "quiet" }, "Nothing to choose."),
      options.map((one, place) => {
        const heading = one.group && one.group !== group && el("p", { class: "quiet" }, one.group);
        group = one.group ?? "";
        const option = el(
          "div",
          {
            role: "option", id: `${list}-${place}`, "aria-selected": String(isKept(one)),
            class: place === active ? "active" : null, "data-value": one.value,
            on: { click: () => choose(one) },
          },
          el("span", {}, one.label),
          one.note && el("small", {}, one.note),
        );
        return [heading, option];
      }),
    );
    search.setAttribute("aria-activedescendant", options.length ? `${list}-${active}` : "");
    if (box.isConnected) settle(control, box);
    shown.querySelector(".active")?.scrollIntoView({ block: "nearest" });
  }

  let asked = 0;
  async function look() {
    asked += 1;
    const number = asked;
    const found = await find(search.value.trim());
    if (number !== asked) return;
    options = found;
    active = 0;
    draw();
  }

  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) {
      event.preventDefault();
      active = (active + step + options.length) % options.length;
      draw();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (options[active]) choose(options[active]);
    }
  });
  open(control, box);
  look();
  search.focus();
}

/** Ask whether something is meant, as a block's confirmation says; resolve to yes or no. */
export function confirmed(dialog, plain) {
  return new Promise((resolve) => {
    const title = newId();
    const said = newId();
    const answer = (yes) => () => {
      box.close();
      resolve(yes);
    };
    const style = dialog.style === "danger" ? "button danger" : "button primary";
    const box = el(
      "dialog",
      { class: "small", role: "alertdialog", "aria-labelledby": title, "aria-describedby": said },
      el("h2", { id: title }, plain(dialog.title)),
      el("div", { id: said }, plain(dialog.text)),
      el(
        "div",
        { class: "foot" },
        el("button", { type: "button", class: "button", on: { click: answer(false) } }, plain(dialog.deny)),
        el("button", { type: "button", class: style, on: { click: answer(true) } }, plain(dialog.confirm)),
      ),
    );
    box.addEventListener("cancel", () => resolve(false));
    box.addEventListener("close", () => box.remove());
    document.body.append(box);
    box.showModal();
  });
}
