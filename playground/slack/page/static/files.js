// Files in messages: pictures, the beginning of texts, and the rest by name.

import { el } from "./dom.js";

const PICTURES = ["image/png", "image/jpeg", "image/gif"];
/** Bytes of a text that are shown before somebody asks for the whole. */
const BEGINNING = 2000;

/** Return a size as people say it. */
export function sized(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  const units = ["kB", "MB", "GB"];
  let amount = bytes / 1000;
  while (amount >= 1000 && units.length > 1) {
    amount /= 1000;
    units.shift();
  }
  return `${amount.toFixed(amount < 10 ? 1 : 0)} ${units[0]}`;
}

async function beginning(url) {
  const answer = await fetch(url);
  const reader = answer.body.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode((value ?? new Uint8Array()).slice(0, BEGINNING));
}

function preview(file, url) {
  const shown = el("pre", { class: "snippet", tabindex: "0", "aria-label": `Beginning of ${file.name}` });
  if (file.preview) shown.textContent = file.preview;
  else beginning(url).then((text) => { shown.textContent = text; }, () => shown.remove());
  return shown;
}

/** Return a file of a message. */
export function file(one) {
  if (one.mode === "tombstone") return el("p", { class: "quiet" }, "This file was deleted.");
  const url = `/_play/files/${one.id}`;
  if (!one.name) return el("p", { class: "quiet" }, "A file of another workspace. ", el("a", { href: url }, "Open"));
  const picture = PICTURES.includes(one.mimetype);
  const plain = one.mode === "snippet" || one.mimetype.startsWith("text/");
  const about = `${one.pretty_type} · ${sized(one.size)}${one.lines ? ` · ${one.lines} lines` : ""}`;
  return el(
    "figure",
    { class: "file" },
    el(
      "figcaption",
      {},
      el("a", { href: url, target: "_blank", rel: "noopener" }, one.title || one.name),
      " ",
      el("small", { class: "quiet" }, about),
    ),
    picture && el("img", { src: url, alt: one.alt_txt ?? one.title, class: "picture", loading: "lazy" }),
    !picture && plain && preview(one, url),
  );
}
