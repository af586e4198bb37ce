// Elements that something is typed into, ticked or put into.

import { el, fill, newId, toast } from "./dom.js";
import { text } from "./mrkdwn.js";
import { upload } from "./world.js";

const TYPES = {
  plain_text_input: "text", email_text_input: "email", url_text_input: "url", number_input: "text",
  datepicker: "date", timepicker: "time", datetimepicker: "datetime-local",
};

const words = (object) => text(object).map((one) => one.textContent ?? one).join("");

/** Return a field to type into; it is told of at the end of typing, or as its block asks. */
export function typed(surface, block, element) {
  const many = element.type === "plain_text_input" && element.multiline;
  const begin = surface.typed[block.block_id]?.[element.action_id] ?? surface.held(block, element);
  const field = el(many ? "textarea" : "input", {
    type: many ? null : TYPES[element.type],
    inputmode: element.type === "number_input" ? "decimal" : null,
    rows: many ? 6 : null,
    placeholder: element.placeholder && words(element.placeholder),
    maxlength: element.type === "plain_text_input" ? element.max_length ?? 3000 : null,
    autofocus: element.focus_on_load,
    "data-key": `${block.block_id}/${element.action_id}`,
    "data-action": element.action_id,
  });
  field.value = written(element, begin);
  const value = () => (element.type === "datetimepicker" ? seconds(field.value) : field.value);
  if (surface.where.view_id) field.addEventListener("input", () => surface.type(block, element, value()));
  const on = element.dispatch_action_config?.trigger_actions_on ?? ["on_enter_pressed"];
  const picker = TYPES[element.type].startsWith("date") || TYPES[element.type] === "time";
  const tell = () => surface.changed(block, element, value(), field);
  if (picker) field.addEventListener("change", tell);
  else if (on.includes("on_character_entered")) field.addEventListener("input", tell);
  if (!picker && !many && on.includes("on_enter_pressed")) {
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !block.dispatch_action) return;
      event.preventDefault();
      tell();
    });
  }
  return field;
}

function written(element, value) {
  if (value === undefined || value === null) return "";
  if (element.type !== "datetimepicker" || typeof value !== "number") return value;
  const at = new Date(value * 1000);
  return new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

const seconds = (local) => (local ? Math.round(new Date(local).getTime() / 1000) : null);

/** Return checkboxes or radio buttons. */
export function ticks(surface, block, element) {
  const several = element.type === "checkboxes";
  const name = newId();
  const before = surface.typed[block.block_id]?.[element.action_id];
  const held = [before ?? surface.held(block, element)].flat().filter(Boolean).map((one) => one.value ?? one);
  const box = el("fieldset", { class: "ticks", "data-action": element.action_id });
  const tell = () => {
    const values = [...box.querySelectorAll("input:checked")].map((one) => one.value);
    surface.changed(block, element, several ? values : values[0], box);
  };
  return fill(
    box,
    element.options.map((one, place) =>
      el(
        "label",
        {},
        el("input", {
          type: several ? "checkbox" : "radio", name, value: one.value, checked: held.includes(one.value),
          "data-key": `${block.block_id}/${element.action_id}/${place}`, on: { change: tell },
        }),
        el("span", {}, text(one.text), one.description && el("small", {}, text(one.description))),
      )),
  );
}

/** Return a field that takes files; each is sent at once and named by its id afterwards. */
export function files(surface, block, element) {
  const key = `${block.block_id}/${element.action_id}`;
  const kept = surface.chosen.get(key) ?? (surface.held(block, element) ?? []).map(({ id, name, size }) => ({ id, name, size }));
  const list = el("ul", { class: "given" });
  const input = el("input", {
    type: "file", multiple: (element.max_files ?? 10) > 1, "data-key": key, "data-action": element.action_id,
    accept: element.filetypes?.map((one) => `.${one}`).join(",") ?? null,
  });
  const box = el("div", { class: "file-input" }, input, list);
  const keep = () => {
    surface.chosen.set(key, kept);
    surface.type(block, element, kept.map((one) => one.id));
    draw();
  };
  function draw() {
    fill(list, kept.map((one) => {
      const click = () => {
        kept.splice(kept.indexOf(one), 1);
        keep();
      };
      return el("li", {}, one.name, el("button", { type: "button", class: "plain", "aria-label": `Remove ${one.name}`, on: { click } }, "✕"));
    }));
  }
  input.addEventListener("change", async () => {
    for (const file of input.files) {
      const answer = await upload(file);
      if (!answer.ok) toast(answer.error);
      else kept.push({ id: answer.file, name: file.name, size: file.size });
    }
    input.value = "";
    keep();
  });
  draw();
  return box;
}
