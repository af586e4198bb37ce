// The field that messages, commands and files are written in.

import { el, fill, toast } from "./dom.js";
import { heard } from "./messages.js";
import { meant, suggestions } from "./suggestions.js";
import { act, upload, world } from "./world.js";

/** Characters that were pasted at once from which on a snippet is offered. */
const LONG = 2000;
/** What Slack's client takes as one message. */
const MOST = 12000;

const FAILED = { timeout: "in time", http_timeout: "in time" };

/**
 * Return a composer for a channel or, with `thread()`, for a thread.
 *
 * `hints` hold what it says under the field, and files that wait to be sent.
 */
export function composer({ name, thread = () => "" }) {
  const files = [];
  const offer = el("div", { class: "offer", role: "status" });
  const list = el("ul", { class: "given" });
  const commands = el("div", { class: "commands", role: "status" });
  const field = el("textarea", {
    rows: 1, "aria-label": name, placeholder: name, autocomplete: "off", spellcheck: "false",
    on: { input: changed, keydown: pressed, paste: pasted },
  });
  const picker = el("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files", on: { change: () => add([...picker.files]) } });
  const attach = el("button", { type: "button", class: "plain", "aria-label": "Attach a file", title: "Attach a file", on: { click: () => picker.click() } }, "📎");
  const send = el("button", { type: "submit", class: "button primary", "aria-label": "Send" }, "➤");
  const box = el(
    "form",
    { class: "composer", on: { submit: (event) => { event.preventDefault(); go(); }, dragover: (event) => event.preventDefault(), drop: dropped } },
    offer, list, commands,
    el("div", { class: "row" }, attach, picker, field, send),
  );

  function add(more) {
    files.push(...more);
    picker.value = "";
    draw();
    field.focus();
  }

  function draw() {
    fill(list, files.map((one) => {
      const click = () => { files.splice(files.indexOf(one), 1); draw(); };
      return el("li", {}, one.name, el("button", { type: "button", class: "plain", "aria-label": `Remove ${one.name}`, on: { click } }, "✕"));
    }));
  }

  function dropped(event) {
    event.preventDefault();
    add([...event.dataTransfer.files]);
  }

  function pasted(event) {
    const given = [...event.clipboardData.files];
    if (given.length) {
      event.preventDefault();
      add(given);
      return;
    }
    const text = event.clipboardData.getData("text");
    if (text.length >= LONG) queueMicrotask(() => setTimeout(() => offered(text)));
  }

  function offered(text) {
    const snippet = async () => {
      const rest = field.value.replace(text.replace(/\r\n?/g, "\n"), "").trim();
      const file = new File([text], "pasted.log", { type: "text/plain" });
      const answer = await upload(file, { ...where(), text: rest, snippet: "1" });
      if (!answer.ok) return toast(answer.error);
      heard.tell("said");
      return clear();
    };
    fill(
      offer,
      el("span", {}, `${text.length.toLocaleString()} characters: send them as a file that the app can read whole?`),
      el("button", { type: "button", class: "button primary", on: { click: snippet } }, "Create snippet"),
      text.length <= MOST && el("button", { type: "button", class: "button", on: { click: () => fill(offer) } }, "Keep as message"),
    );
  }

  function clear() {
    field.value = "";
    files.length = 0;
    fill(offer);
    draw();
    changed();
  }

  function changed() {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 220)}px`;
    const fits = world.state ? suggestions(field.value.slice(0, field.selectionStart)) : [];
    fill(commands, fits.map((one) => {
      const click = () => { one.run(field); changed(); };
      return el("button", { type: "button", class: "plain", on: { click } }, el("strong", {}, one.label), el("small", {}, ` ${one.note}`));
    }));
  }

  function pressed(event) {
    if (event.isComposing) return;
    if (event.key === "Tab" && !event.shiftKey && commands.firstChild) {
      event.preventDefault();
      commands.firstChild.click();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      go();
    }
  }

  const where = () => ({ channel: world.channel, thread_ts: thread() });

  async function go() {
    const typed = field.value.trim();
    if (!(typed || files.length) || send.getAttribute("aria-busy") === "true") return;
    send.setAttribute("aria-busy", "true");
    const problem = await sent(typed);
    send.removeAttribute("aria-busy");
    if (problem) toast(problem);
    else heard.tell("said");
  }

  async function sent(typed) {
    if (typed.length > MOST && !files.length) {
      offered(typed);
      return "The message is too long; send it as a snippet.";
    }
    const waiting = [...files];
    if (!waiting.length) {
      const [what, given] = meant(typed);
      // The field is free again while the app takes its time.
      const kept = field.value;
      clear();
      const answer = await act(what, { ...where(), ...given });
      if (!answer.ok) {
        if (!field.value) field.value = kept;
        changed();
        return answer.error;
      }
      return answer.failed && answer.failed in FAILED ? "The app did not answer in time." : "";
    }
    for (const [place, file] of waiting.entries()) {
      const answer = await upload(file, { ...where(), text: place ? "" : typed });
      if (!answer.ok) return answer.error;
    }
    clear();
    return "";
  }

  return { box, field, set: (text) => { field.value = text; changed(); }, rename: (text) => { field.placeholder = text; field.setAttribute("aria-label", text); } };
}
