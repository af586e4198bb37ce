// How people, groups, channels and times are written.

import { el } from "./dom.js";
import { go, world } from "./world.js";

/** Mention a person. */
export function user(id) {
  const found = world.people.get(id);
  const own = id === world.state.me.id;
  return el("span", { class: own ? "mention own" : "mention" }, `@${found?.real_name ?? id}`);
}

/** Mention a group. */
export function group(id, fallback) {
  const found = world.state.groups.find((one) => one.id === id);
  const own = found?.users.includes(world.state.me.id);
  return el("span", { class: own ? "mention own" : "mention" }, `@${found?.handle ?? fallback ?? id}`);
}

/** Mention everybody. */
export const broadcast = (range) => el("span", { class: "mention own" }, `@${range}`);

/** Name a channel, and lead there if the person is in it. */
export function channelName(id, fallback) {
  const found = world.state.channels.find((one) => one.id === id);
  if (!found) return el("span", { class: "mention" }, `#${fallback || "private channel"}`);
  const click = () => go({ channel: id, thread: "", tab: "messages" });
  return el("button", { class: "mention plain", type: "button", on: { click } }, `#${found.name}`);
}

/** Return a person's square: initials on one of eight grounds. */
export function avatar(person) {
  const words = (person?.real_name ?? "?").split(/\s+/);
  const initials = person?.bot ? "⚙" : words.map((one) => one[0]).join("").slice(0, 2);
  const ground = [...(person?.id ?? "?")].reduce((sum, one) => sum + one.charCodeAt(0), 0) % 8;
  return el("span", { class: `avatar ground-${ground}`, "aria-hidden": "true" }, initials);
}

/** Return the time of a message's ts. */
export function clock(ts, { date = false } = {}) {
  const at = new Date(Number(ts) * 1000);
  const shown = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
  const day = date ? `${at.toLocaleDateString([], { day: "numeric", month: "short" })} ` : "";
  return el("time", { datetime: at.toISOString(), title: at.toString() }, `${day}${shown}`);
}

const FORMATS = {
  date_num: (at) => at.toISOString().slice(0, 10),
  date_slash: (at) => at.toLocaleDateString("en-GB"),
  date: (at) => at.toLocaleDateString("en", { dateStyle: "long" }),
  date_short: (at) => at.toLocaleDateString("en", { dateStyle: "medium" }),
  date_long: (at) => at.toLocaleDateString("en", { dateStyle: "full" }),
  time: (at) => at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false }),
  time_secs: (at) => at.toLocaleTimeString([], { hour12: false }),
  ago: (at) => ago(at),
  day_divider_pretty: (at) => pretty(at, "date_long"),
};

function ago(at) {
  const minutes = Math.round((Date.now() - at) / 60000);
  if (minutes < 1) return "just now";
  return minutes < 90 ? `${minutes} minutes ago` : `${Math.round(minutes / 60)} hours ago`;
}

function pretty(at, plain) {
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 864e5);
  return { 0: "today", 1: "yesterday", [-1]: "tomorrow" }[days] ?? FORMATS[plain](at);
}

/** Write a time as a message's format says, in the reader's own zone. */
export function date(seconds, format, fallback) {
  const at = new Date(Number(seconds) * 1000);
  if (Number.isNaN(at.getTime())) return fallback ?? "";
  const text = format.replace(/\{(\w+)\}/g, (whole, name) => {
    if (name.endsWith("_pretty") && !FORMATS[name]) return pretty(at, name.slice(0, -7));
    return FORMATS[name]?.(at) ?? whole;
  });
  return el("time", { datetime: at.toISOString(), title: fallback || at.toString() }, text);
}
