// The column of channels, the app and the people to be.

import { el, redraw } from "./dom.js";
import { heard } from "./messages.js";
import { avatar } from "./people.js";
import { channel, go, isDirect, place, world } from "./world.js";

const MARKS = { public: "#", private: "🔒" };
/** The kinds of people that a bot has to tell apart, each as its own group. */
const GROUPS = [
  ["This company", (one) => !one.guest && !one.stranger],
  ["Outsiders", (one) => one.guest || one.stranger],
];

function entry(id, label, { here, unread, mark, note }) {
  const click = () => {
    go({ channel: id, thread: "", tab: "messages" });
    document.body.classList.remove("side-open");
  };
  return el(
    "button",
    { type: "button", class: unread ? "entry unread" : "entry", "data-key": id, "aria-current": here ? "page" : null, on: { click } },
    el("span", { class: "mark", "aria-hidden": "true" }, mark),
    el("span", {}, label),
    note && el("small", { class: "quiet" }, note),
    unread && el("span", { class: "dot", role: "img", "aria-label": "unread" }),
  );
}

function switcher() {
  const change = (event) => {
    // An approver decides where the engineer asked; who may not be there starts elsewhere.
    go({ as: event.target.value });
    heard.tell("became");
  };
  const people = world.state.people.filter((one) => !one.bot && !one.deleted);
  return el(
    "label",
    { class: "switcher" },
    el("span", {}, "You are"),
    el("select", { "aria-label": "You are", "data-key": "you", on: { change } }, GROUPS.map(([name, is]) =>
      el("optgroup", { label: name }, people.filter(is).map((one) =>
        el("option", { value: one.name, selected: one.id === world.state.me.id }, one.real_name))))),
    el("small", {}, world.state.me.title),
  );
}

/** Show the column. */
export function showSide(nav) {
  const { app, channels } = world.state;
  const here = channel();
  const direct = channels.find((one) => one.kind === "im");
  const rooms = channels.filter((one) => one.kind !== "im");
  redraw(nav, [world.state.me, app, channels, [...world.unread], here?.id, isDirect()], () => [
    el("p", { class: "title" }, "Local workspace"),
    switcher(),
    el("h2", {}, "Channels"),
    rooms.map((one) => entry(one.id, one.name, {
      here: one.id === here?.id, unread: world.unread.has(one.id), mark: MARKS[one.kind],
      note: one.archived ? "archived" : "",
    })),
    el("h2", {}, "Apps"),
    entry("@", app.name, { here: isDirect(), unread: direct && world.unread.has(direct.id), mark: "⚙" }),
    el("p", { class: "quiet last" }, avatar(world.state.me), " Nothing here leaves this machine."),
  ]);
}

/** Show the head: where one is, and the way to the columns on a phone. */
export function showHead(head) {
  const here = channel();
  const direct = isDirect();
  const name = direct ? world.state.app.name : here?.name ?? place().channel;
  const open = () => document.body.classList.toggle("side-open");
  const tab = (id, label) => el(
    "button",
    { type: "button", role: "tab", class: "plain", "data-key": id, "aria-selected": String(place().tab === id), on: { click: () => go({ tab: id, thread: "" }) } },
    label,
  );
  const members = (here?.members ?? []).length;
  redraw(head, [here, direct, name, place().tab], () => [
    el("button", { type: "button", class: "plain only-narrow", "aria-label": "Channels and people", "data-key": "menu", on: { click: open } }, "☰"),
    el("h1", {}, direct ? "" : MARKS[here?.kind] ?? "", name),
    !direct && el("span", { class: "quiet topic" }, here?.topic ?? "", members ? ` · ${members} members` : ""),
    direct && world.state.app.home_tab && el("div", { role: "tablist" }, tab("home", "Home"), tab("messages", "Messages")),
  ]);
}
