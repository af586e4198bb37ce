// The rich_text block and its parts.

import { el, link } from "./dom.js";
import { emoji } from "./emoji.js";
import { broadcast, channelName, date, group, user } from "./people.js";

const STYLES = { bold: "strong", italic: "em", strike: "del", code: "code", underline: "u", highlight: "mark" };

/** Kind of leaf → what stands in the line. */
export const LEAVES = {
  text: (one) => broken(one.text),
  link: (one) => link(one.url, one.text || one.url),
  user: (one) => user(one.user_id),
  usergroup: (one) => group(one.usergroup_id),
  channel: (one) => channelName(one.channel_id),
  team: (one) => one.team_id,
  broadcast: (one) => broadcast(one.range),
  emoji: (one) => emoji(one.name),
  color: (one) => one.value,
  date: (one) => date(one.timestamp, one.format, one.fallback),
};

/** Kind of part → its element. */
export const PARTS = {
  rich_text_section: (one) => el("div", { class: "line" }, leaves(one.elements)),
  rich_text_preformatted: (one) => el("pre", {}, leaves(one.elements, { raw: true })),
  rich_text_quote: (one) => el("blockquote", {}, leaves(one.elements)),
  rich_text_list: (one) =>
    el(
      one.style === "ordered" ? "ol" : "ul",
      { class: `indent-${one.indent ?? 0}`, start: one.offset ? one.offset + 1 : null },
      one.elements.map((item) => el("li", {}, leaves(item.elements))),
    ),
};

function broken(text) {
  return text.split("\n").flatMap((line, place) => (place ? [el("br"), line] : [line]));
}

function leaves(elements, { raw = false } = {}) {
  return elements.map((one) => {
    let made = raw && one.type === "text" ? one.text : LEAVES[one.type]?.(one) ?? "";
    for (const [style, tag] of Object.entries(STYLES)) if (one.style?.[style]) made = el(tag, {}, made);
    return made;
  });
}

/** Return a rich_text block. */
export const richText = (block) => el("div", { class: "rich" }, block.elements.map((one) => PARTS[one.type]?.(one)));
