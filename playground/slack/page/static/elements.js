// Block elements by type.

import { el, link, visit } from "./dom.js";
import { files, ticks, typed } from "./fields.js";
import { overflow, select } from "./menus.js";
import { text } from "./mrkdwn.js";
import { world } from "./world.js";

function button(surface, block, element) {
  const click = (event) => {
    if (element.url) visit(element.url);
    surface.press(block, element, element.value ?? "", event.currentTarget);
  };
  return el(
    "button",
    {
      type: "button", class: `button ${element.style ?? ""}`, "aria-label": element.accessibility_label,
      "data-key": `${block.block_id}/${element.action_id}`, "data-action": element.action_id, on: { click },
    },
    text(element.text),
  );
}

function iconButton(surface, block, element) {
  const allowed = element.visible_to_user_ids;
  if (allowed && !allowed.includes(world.state.me.id)) return null;
  return button(surface, block, { ...element, text: { type: "plain_text", text: `🗑 ${element.text.text}` } });
}

function feedback(surface, block, element) {
  const one = (part) => {
    const click = (event) => surface.press(block, element, part.value, event.currentTarget);
    return el("button", { type: "button", class: "button", on: { click } }, text(part.text));
  };
  return el("span", {}, one(element.positive_button), one(element.negative_button));
}

/** Return where a picture of a block is served here; "" for one on another server. */
export function source(image) {
  const id = image.slack_file?.id ?? /-(F\w+)\//.exec(image.slack_file?.url ?? "")?.[1];
  if (id) return `/_play/files/${id}`;
  const url = new URL(image.image_url);
  return url.origin === location.origin ? url.pathname : "";
}

/** Return a picture; this page asks no other server, so one from elsewhere is a link. */
export function picture(image, className) {
  const from = source(image);
  if (from) return el("img", { src: from, alt: image.alt_text, class: className, loading: "lazy" });
  return el("span", { class: "elsewhere" }, "🖼 ", link(image.image_url, image.alt_text));
}

/** Kind of element → what makes it. */
export const ELEMENTS = {
  button,
  overflow,
  icon_button: iconButton,
  feedback_buttons: feedback,
  image: (surface, block, element) => picture(element, "thumb"),
  checkboxes: ticks,
  radio_buttons: ticks,
  file_input: files,
  url: (surface, block, element) => link(element.url, element.text),
};
for (const kind of ["static", "external", "users", "conversations", "channels"]) {
  ELEMENTS[`${kind}_select`] = select;
  ELEMENTS[`multi_${kind}_select`] = select;
}
for (const kind of ["plain_text", "email_text", "url_text", "number"]) ELEMENTS[`${kind}_input`] = typed;
for (const kind of ["datepicker", "timepicker", "datetimepicker"]) ELEMENTS[kind] = typed;

/** Return an element of a block. */
export const element = (surface, block, one) => ELEMENTS[one.type]?.(surface, block, one) ?? null;
