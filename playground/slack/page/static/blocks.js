// Blocks by type, as docs.slack.dev/reference/block-kit/blocks has them.

import { el, link, newId } from "./dom.js";
import { element, picture } from "./elements.js";
import { markdown } from "./markdown.js";
import { text } from "./mrkdwn.js";
import { richText } from "./richtext.js";

const STATUS = { pending: "○", in_progress: "◐", complete: "✓", error: "✕" };
const SAID = { pending: "pending", in_progress: "in progress", complete: "complete", error: "failed" };

function section(surface, block) {
  return el(
    "div",
    { class: "section" },
    el(
      "div",
      { class: "said" },
      block.text && el("div", { class: "text" }, text(block.text)),
      block.fields && el("div", { class: "fields" }, block.fields.map((one) => el("div", {}, text(one)))),
    ),
    block.accessory && el("div", { class: "accessory" }, element(surface, block, block.accessory)),
  );
}

function context(surface, block) {
  const shown = (one) => (one.type === "image" ? picture(one, "icon") : el("span", {}, text(one)));
  return el("div", { class: "context" }, block.elements.map(shown));
}

function image(surface, block) {
  return el("figure", {}, block.title && el("figcaption", {}, text(block.title)), picture(block, "picture"));
}

function table(surface, block) {
  const cell = (tag) => (one, place) => {
    const { align, is_wrapped: wrapped } = block.column_settings?.[place] ?? {};
    const classes = [`align-${align ?? "left"}`, wrapped ? "wrapped" : "kept"].join(" ");
    const inside = one.type === "rich_text" ? richText(one) : one.text;
    return el(tag, { class: classes, scope: tag === "th" ? "col" : null }, inside);
  };
  const [first, ...rest] = block.rows;
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table" },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, first.map(cell("th")))),
      el("tbody", {}, rest.map((row) => el("tr", {}, row.map(cell("td"))))),
    ),
  );
}

function task(surface, one) {
  const state = one.status ?? "pending";
  return el(
    "div",
    { class: `task ${state}` },
    el("span", { class: "mark", role: "img", "aria-label": SAID[state] }, STATUS[state]),
    el(
      "div",
      {},
      el("strong", {}, one.title),
      one.details && richText(one.details),
      one.output && richText(one.output),
      one.sources && el("div", { class: "context" }, one.sources.map((from) => link(from.url, from.text))),
    ),
  );
}

function plan(surface, block) {
  return el("div", { class: "plan" }, el("strong", {}, block.title), (block.tasks ?? []).map((one) => task(surface, one)));
}

function alert(surface, block) {
  const level = block.level ?? "default";
  return el("div", { class: `alert ${level}`, role: level === "error" ? "alert" : "note" }, text(block.text));
}

function input(surface, block) {
  const control = element(surface, block, block.element);
  const [id, about, name] = [newId(), newId(), newId()];
  const field = control.matches("input, textarea, button") ? control : control.querySelector("input");
  field?.setAttribute("id", id);
  field?.setAttribute("aria-describedby", about);
  // A menu's name is its label and what it holds.
  if (field?.matches(".select")) field.setAttribute("aria-labelledby", `${name} ${id}`);
  return el(
    "div",
    { class: "input", "data-block": block.block_id },
    el("label", { for: id, id: name }, text(block.label), block.optional && el("span", { class: "quiet" }, " (optional)")),
    control,
    el("div", { id: about }, el("p", { class: "error" }), block.hint && el("p", { class: "quiet" }, text(block.hint))),
  );
}

function card(surface, block) {
  const part = (name) => block[name] && el("div", { class: name }, text(block[name]));
  return el(
    "div",
    { class: "card" },
    block.hero_image && picture(block.hero_image, "picture"),
    block.icon && picture(block.icon, "icon"),
    ["title", "subtitle", "body", "subtext"].map(part),
    block.actions && el("div", { class: "actions" }, block.actions.map((one) => element(surface, block, one))),
  );
}

function elements(surface, block) {
  return el("div", { class: "actions" }, block.elements.map((one) => element(surface, block, one)));
}

/** Kind of block → its element. */
export const BLOCKS = {
  header: (surface, block) => el("h2", {}, text(block.text)),
  section,
  context,
  image,
  table,
  plan,
  alert,
  input,
  card,
  task_card: task,
  actions: elements,
  context_actions: elements,
  divider: () => el("hr"),
  rich_text: (surface, block) => richText(block),
  markdown: (surface, block) => el("div", { class: "markdown" }, markdown(surface.markdown[block.block_id] ?? [])),
  carousel: (surface, block) => el("div", { class: "carousel" }, block.elements.map((one) => card(surface, one))),
  video: (surface, block) => el("div", { class: "card" }, link(block.title_url ?? block.video_url, "▶ ", text(block.title))),
};

/** Return all blocks of a message or a view. */
export const blocks = (surface, all) =>
  all.map((one) => el("div", { class: "block" }, BLOCKS[one.type]?.(surface, one) ?? `(a block «${one.type}»)`));
