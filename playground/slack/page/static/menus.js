// Elements that choose one or several of many: menus of the app, people, channels.

import { el, fill, visit } from "./dom.js";
import { text } from "./mrkdwn.js";
import { chooser, menu } from "./popover.js";
import { world } from "./world.js";

const words = (object) => text(object).map((one) => one.textContent ?? one).join("");

const option = (one, group) => ({
  value: one.value, label: words(one.text), note: one.description && words(one.description), group, whole: one,
});
const person = (one) => ({ value: one.id, label: one.real_name, note: one.title, whole: one.id });
const channel = (one) => ({ value: one.id, label: one.name ? `#${one.name}` : "Direct messages", whole: one.id });

const living = () => world.state.people.filter((one) => !one.deleted);

/** Kind of menu → all that it offers, for what is typed. */
const SOURCES = {
  static: async (element) => [
    ...(element.options ?? []).map((one) => option(one)),
    ...(element.option_groups ?? []).flatMap((group) =>
      group.options.map((one) => option(one, words(group.label)))),
  ],
  external: async (element, typed, ask) => (await ask(typed)).map((one) => option(one)),
  users: async () => living().map(person),
  conversations: async () => world.state.channels.map(channel),
  channels: async () => world.state.channels.filter((one) => one.kind === "public").map(channel),
};

const matching = (options, typed) => {
  const wanted = typed.toLowerCase();
  return options.filter((one) => `${one.label} ${one.note ?? ""}`.toLowerCase().includes(wanted));
};

/** Return a menu; what it holds is what was chosen here, else what the workspace says. */
export function select(surface, block, element) {
  const several = element.type.startsWith("multi_");
  const kind = element.type.replace("multi_", "").replace("_select", "");
  const key = `${block.block_id}/${element.action_id}`;
  const find = async (typed) => {
    const all = await SOURCES[kind](element, typed, (asked) => surface.suggested(block, element, asked));
    return kind === "external" ? all : matching(all, typed);
  };
  let chosen = surface.chosen.get(key) ?? given(surface.held(block, element), kind);
  const button = el("button", {
    type: "button", class: "select", "aria-haspopup": "listbox", "aria-expanded": "false",
    "data-key": key, "data-action": element.action_id,
  });
  const label = words(element.placeholder) || "Choose";
  const draw = () => {
    fill(button, el("span", {}, chosen.map((one) => one.label).join(", ") || label), el("span", { "aria-hidden": "true" }, "▾"));
    button.classList.toggle("empty", !chosen.length);
  };
  const picked = (options) => {
    chosen = options;
    if (surface.where.view_id) surface.chosen.set(key, chosen);
    draw();
    const values = options.map((one) => (kind === "external" ? one.whole : one.value));
    surface.changed(block, element, several ? values : values[0], button);
  };
  button.addEventListener("click", () =>
    chooser(button, { label, find, several, most: element.max_selected_items, chosen, picked }));
  draw();
  return button;
}

function given(held, kind) {
  const all = [held].flat().filter((one) => one !== null && one !== undefined);
  if (kind === "static" || kind === "external") return all.map((one) => option(one));
  const known = kind === "users" ? world.state.people.map(person) : world.state.channels.map(channel);
  return all.map((id) => known.find((one) => one.value === id) ?? { value: id, label: id });
}

/** Return an overflow menu. */
export function overflow(surface, block, element) {
  const entries = element.options.map((one) => ({
    label: words(one.text),
    note: one.description && words(one.description),
    run: (control) => {
      if (one.url) visit(one.url);
      surface.press(block, element, one.value, control);
    },
  }));
  const button = el("button", {
    type: "button", class: "button overflow", "aria-label": "More actions", "aria-haspopup": "menu",
    "aria-expanded": "false", "data-key": `${block.block_id}/${element.action_id}`, "data-action": element.action_id,
  }, "⋯");
  button.addEventListener("click", () => menu(button, "More actions", entries));
  return button;
}
