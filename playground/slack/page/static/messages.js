// Messages of a channel and of a thread.

import { blocks } from "./blocks.js";
import { el, fill, toast } from "./dom.js";
import { emoji } from "./emoji.js";
import { file } from "./files.js";
import { mrkdwn } from "./mrkdwn.js";
import { avatar, clock, user } from "./people.js";
import { menu } from "./popover.js";
import { Surface } from "./surface.js";
import { act, go, world } from "./world.js";

const isReply = (one) => one.thread_ts && one.thread_ts !== one.ts;

/** Return what stands in the channel itself. */
export const inChannel = () => world.messages.filter((one) => !isReply(one) || one.broadcast);

/** Return a thread's parent and its replies. */
export const inThread = (ts) => world.messages.filter((one) => one.ts === ts || one.thread_ts === ts);

/** Listeners for what people do here: the guide ticks its steps by them. */
export const heard = { tell: () => {} };

function badge(person) {
  if (person?.bot) return el("span", { class: "badge" }, "APP");
  if (person?.stranger) return el("span", { class: "badge" }, "OTHER COMPANY");
  return person?.guest ? el("span", { class: "badge" }, "GUEST") : null;
}

function body(one) {
  const surface = new Surface({
    where: { channel: world.channel, ts: one.ts },
    values: one.values,
    markdown: one.markdown,
    heard: (what) => heard.tell(what),
  });
  // What people type is better read from the text, which has mentions marked.
  const typed = one.blocks?.length === 1 && one.blocks[0].block_id === "typed";
  if (one.blocks?.length && !typed) return blocks(surface, one.blocks);
  return one.text ? el("div", { class: "text" }, mrkdwn(one.text)) : null;
}

function reactions(one) {
  const react = (name) => () => act("react", { channel: world.channel, ts: one.ts, name });
  return el("div", { class: "reactions" }, (one.reactions ?? []).map((each) => {
    const who = each.users.map((id) => world.people.get(id)?.real_name ?? id).join(", ");
    return el("button", { type: "button", title: who, class: "reaction", on: { click: react(each.name) } }, `${emoji(each.name)} ${each.count}`);
  }));
}

function replies(one) {
  const count = world.messages.filter((each) => each.thread_ts === one.ts && each.ts !== one.ts).length;
  if (!count) return null;
  const click = () => openThread(one.ts);
  const latest = one.latest_reply && [" · last reply ", clock(one.latest_reply)];
  return el("button", { type: "button", class: "replies plain", on: { click } }, `${count} ${count === 1 ? "reply" : "replies"}`, latest);
}

function openThread(ts) {
  go({ thread: ts });
  heard.tell("thread");
}

async function shortcut(one, callback) {
  const answer = await act("shortcut", { callback_id: callback, channel: world.channel, ts: one.ts });
  heard.tell("shortcut");
  if (!answer.ok) toast(answer.error);
  else if (answer.failed) toast("The app did not answer.");
}

function tools(one, inPane) {
  const more = () => [
    ...world.state.app.shortcuts.filter((each) => each.type === "message").map((each) => ({
      label: each.name, note: world.state.app.name, run: () => shortcut(one, each.callback_id),
    })),
    { label: "React with 👀", run: () => act("react", { channel: world.channel, ts: one.ts, name: "eyes" }) },
    { label: "Copy text", run: () => navigator.clipboard?.writeText(one.text ?? "") },
  ];
  const click = (event) => menu(event.currentTarget, "Message actions", more());
  const reply = () => openThread(one.thread_ts ?? one.ts);
  return el(
    "div",
    { class: "tools" },
    !inPane && !one.ephemeral && el("button", { type: "button", class: "plain", "aria-label": "Reply in thread", title: "Reply in thread", on: { click: reply } }, "💬"),
    !one.ephemeral && el("button", { type: "button", class: "plain", "aria-label": "More actions on this message", title: "More actions", "aria-haspopup": "menu", on: { click } }, "⋮"),
  );
}

function attachments(one) {
  return (one.attachments ?? []).map((each) => el(
    "div",
    { class: "attachment" },
    each.title && el("strong", {}, each.title),
    each.blocks ? blocks(new Surface({ where: { channel: world.channel, ts: one.ts } }), each.blocks) : el("div", {}, mrkdwn(each.text ?? each.fallback ?? "")),
  ));
}

const SLACKBOT = { id: "USLACKBOT", real_name: "Slackbot", bot: true };

const author = (one) => (one.subtype === "slackbot" ? SLACKBOT : world.people.get(one.user));

function message(one, inPane) {
  const person = author(one);
  const broadcast = isReply(one) && !inPane;
  return el(
    "article",
    { class: `message${one.ephemeral ? " ephemeral" : ""}`, "data-ts": one.ts, "aria-label": `${person?.real_name ?? "Somebody"}` },
    avatar(person),
    el(
      "div",
      { class: "content" },
      one.ephemeral && el("p", { class: "quiet" }, "👁 Only visible to you"),
      broadcast && el("p", { class: "quiet" }, "replied to a thread"),
      el("div", { class: "by" }, el("strong", {}, person?.real_name ?? one.user), badge(person), " ", clock(one.ts)),
      one.subtype === "channel_join" ? [user(one.user), " joined."] : body(one),
      one.edited && el("small", { class: "quiet edited" }, " (edited)"),
      attachments(one),
      (one.files ?? []).map(file),
      reactions(one),
      !inPane && !isReply(one) && replies(one),
    ),
    tools(one, inPane),
  );
}

/** Let a list stay at its end while it is there, also when a picture in it has come. */
export function keepAtEnd(list) {
  list.atEnd = true;
  list.addEventListener("scroll", () => {
    list.atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  });
  list.addEventListener("load", () => list.atEnd && toEnd(list), true);
}

/** Go to the end; a last message that is higher than the list is shown from its beginning. */
function toEnd(list) {
  const last = list.lastElementChild;
  list.scrollTop = list.scrollHeight;
  if (last && last.offsetHeight > list.clientHeight) last.scrollIntoView({ block: "start" });
  list.atEnd = true;
}

/**
 * Show messages in a list: only those that changed are made anew, so that menus stay open and the
 * focus where it is; the list stays at its end if it was there.
 */
export function show(list, all, { inPane = false } = {}) {
  const { atEnd } = list;
  const before = new Map([...list.querySelectorAll(":scope > .message")].map((one) => [one.dataset.ts, one]));
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset : null;
  const shown = all.map((one) => {
    const count = world.messages.filter((each) => each.thread_ts === one.ts).length;
    const print = JSON.stringify([one, count, world.state.me.id, world.channel]);
    const old = before.get(one.ts);
    if (old?.print === print) return old;
    const made = message(one, inPane);
    made.print = print;
    return made;
  });
  const same = shown.length === before.size && shown.every((one) => one.isConnected && one.parentNode === list);
  if (same && shown.length) return;
  fill(list, shown.length ? shown : beginning());
  refocus(list, focused);
  if (atEnd || !before.size) toEnd(list);
}

const beginning = () => el(
  "p",
  { class: "beginning quiet" },
  `Nothing has been written here yet. Ask with ${world.state.app.commands[0] ?? "a message"}, `,
  "paste a log, drop a file here, or mention the app.",
);

function refocus(list, was) {
  if (!was || list.contains(document.activeElement)) return;
  const all = [...list.querySelectorAll("[data-action]")];
  const found = all.find((one) => one.dataset.key === was.key) ?? all.find((one) => one.dataset.action === was.action);
  found?.focus({ preventScroll: true });
}
