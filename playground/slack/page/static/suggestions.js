// What could be meant by the beginning of a command or of a mention.

import { toast } from "./dom.js";
import { act, world } from "./world.js";

const MOST = 6;

/** What Slack's own client does; people write it like a command of the app. */
const OWN = [{ name: "/invite", note: "add somebody to this channel" }];

/** Return entries `{label, note, run(field)}` for what stands before the caret. */
export function suggestions(before) {
  if (/^\/\S*$/.test(before)) return commands(before);
  const mention = /(?:^|\s)@([\w.-]*)$/.exec(before);
  return mention ? mentions(mention[1]) : [];
}

function commands(typed) {
  const { app } = world.state;
  const shortcuts = app.shortcuts.filter((one) => one.type === "global");
  return [
    ...app.commands.map((name) => ({ name, note: app.name })),
    ...OWN,
  ].filter((one) => one.name.startsWith(typed) && one.name !== typed).map((one) => ({
    label: one.name, note: one.note, run: (field) => put(field, typed, `${one.name} `),
  })).concat(typed === "/" ? shortcuts.map((one) => ({
    label: one.name, note: app.name, run: (field) => taken(field, one),
  })) : []);
}

async function taken(field, one) {
  field.value = "";
  const answer = await act("shortcut", { callback_id: one.callback_id });
  if (!answer.ok) toast(answer.error);
}

function mentions(typed) {
  const people = world.state.people.filter((one) => !one.deleted);
  return [
    ...people.map((one) => ({ name: one.name, note: one.real_name })),
    ...world.state.groups.map((one) => ({ name: one.handle, note: "group" })),
  ].filter((one) => one.name.startsWith(typed) && one.name !== typed).slice(0, MOST).map((one) => ({
    label: `@${one.name}`, note: one.note, run: (field) => put(field, typed, `${one.name} `),
  }));
}

/** Put a whole word in the place of its beginning before the caret. */
function put(field, typed, whole) {
  const at = field.selectionStart;
  field.setRangeText(whole, at - typed.length, at, "end");
  field.focus();
}

/** Return what an act is called here and what it is given; the client's own commands are not the app's. */
export function meant(typed) {
  const bot = world.people.get(world.state.app.bot_user);
  const invited = /^\/invite\s+@?(\S+)$/.exec(typed);
  if (invited && invited[1] === bot?.name) return ["invite", {}];
  return [typed.startsWith("/") ? "command" : "message", { text: typed }];
}
