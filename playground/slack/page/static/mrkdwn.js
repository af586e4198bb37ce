// Slack's mrkdwn, as docs.slack.dev/messaging/formatting-message-text describes it.

import { el, link } from "./dom.js";
import { emoji, withEmoji } from "./emoji.js";
import { broadcast, channelName, date, group, user } from "./people.js";

const FENCE = /```\n?([\s\S]*?)\n?```/g;
const SPECIAL = /<([^<>\n]+)>/y;
const CODE = /`([^`\n]+)`/y;
const EMOJI = /:([a-z0-9_+-]+):/y;
const STYLES = {
  "*": ["strong", /\*([^\s*](?:[^*\n]*[^\s*])?)\*(?!\w)/y],
  _: ["em", /_([^\s_](?:[^_\n]*[^\s_])?)_(?!\w)/y],
  "~": ["del", /~([^\s~](?:[^~\n]*[^\s~])?)~(?!\w)/y],
};
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

const decoded = (text) => text.replace(/&(?:lt|gt|amp);/g, (one) => ENTITIES[one]);

/** Return a text object's nodes: `plain_text` as it is, `mrkdwn` with its marks. */
export function text(object) {
  if (!object) return [];
  if (typeof object === "string") return [object];
  if (object.type === "mrkdwn") return mrkdwn(object.text);
  return [object.emoji === false ? object.text : withEmoji(object.text)];
}

/** Return the nodes of a mrkdwn text. */
export function mrkdwn(source) {
  const made = [];
  let at = 0;
  for (const fence of source.matchAll(FENCE)) {
    made.push(...lines(source.slice(at, fence.index).replace(/\n$/, "")));
    made.push(el("pre", {}, coded(fence[1])));
    at = fence.index + fence[0].length;
  }
  made.push(...lines(at ? source.slice(at).replace(/^\n/, "") : source));
  return made;
}

function lines(source) {
  if (!source) return [];
  const made = [];
  let quoted = [];
  const endQuote = () => {
    if (quoted.length) made.push(el("blockquote", {}, inline(quoted.join("\n"))));
    quoted = [];
  };
  let plain = [];
  const endPlain = () => {
    if (plain.length) made.push(...inline(plain.join("\n")));
    plain = [];
  };
  for (const line of source.split("\n")) {
    const quote = /^(?:&gt;|>) ?(.*)$/.exec(line);
    if (quote) {
      endPlain();
      quoted.push(quote[1]);
    } else {
      endQuote();
      plain.push(line);
    }
  }
  endQuote();
  endPlain();
  return made;
}

function inline(source) {
  const made = [];
  let held = "";
  const flush = () => {
    if (held) made.push(decoded(held));
    held = "";
  };
  for (let at = 0; at < source.length; ) {
    const found = special(source, at);
    if (found) {
      flush();
      made.push(found.node);
      at += found.length;
    } else {
      held += source[at];
      at += 1;
    }
  }
  flush();
  return made;
}

function special(source, at) {
  const char = source[at];
  if (char === "\n") return { node: el("br"), length: 1 };
  if (char === "<") return matched(SPECIAL, source, at, (inside) => marked(inside));
  if (char === "`") return matched(CODE, source, at, (inside) => el("code", {}, coded(inside)));
  if (char === ":") return matched(EMOJI, source, at, emoji);
  const style = STYLES[char];
  if (!style || /\w/.test(source[at - 1] ?? "")) return null;
  return matched(style[1], source, at, (inside) => el(style[0], {}, inline(inside)));
}

function matched(rule, source, at, make) {
  rule.lastIndex = at;
  const found = rule.exec(source);
  return found && { node: make(found[1]), length: found[0].length };
}

function coded(source) {
  return source.split(/(<[^<>\n]+>)/).map((part) =>
    /^<[^<>\n]+>$/.test(part) ? marked(part.slice(1, -1)) : decoded(part));
}

function marked(inside) {
  const bar = inside.indexOf("|");
  const target = bar < 0 ? inside : inside.slice(0, bar);
  const label = bar < 0 ? "" : decoded(inside.slice(bar + 1));
  if (target.startsWith("@")) return user(target.slice(1));
  if (target.startsWith("#")) return channelName(target.slice(1), label);
  if (target.startsWith("!")) return command(target.slice(1), label);
  return link(decoded(target), ...(label ? [withEmoji(label)] : []));
}

function command(target, label) {
  const [name, ...given] = target.split("^");
  if (name === "subteam") return group(given[0], label.replace(/^@/, ""));
  if (name === "date") return date(given[0], decoded(given[1] ?? ""), label);
  if (["here", "channel", "everyone"].includes(name)) return broadcast(name);
  return label || `<${target}>`;
}
