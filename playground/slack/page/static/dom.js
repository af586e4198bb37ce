// Make elements. Whatever is foreign becomes a text node or an attribute's value, never markup.

const LINKED = /^(https?:\/\/|mailto:)/i;

/** Make an element; `on` holds listeners, null and false leave an attribute out. */
export function el(tag, { on = {}, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [name, listener] of Object.entries(on)) made.addEventListener(name, listener);
  made.append(...nodes(children));
  return made;
}

/** Flatten children and drop what is empty. */
export function nodes(children) {
  return [children].flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false);
}

/** Put children in the place of what an element holds. */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
  return parent;
}

/** Link to an address; one that is neither of the web nor of mail stays plain text. */
export function link(url, ...children) {
  const shown = nodes(children).length ? children : [url];
  const known = permalink(url);
  if (known) return el("a", { href: known }, shown);
  if (!LINKED.test(url)) return el("span", {}, shown);
  return el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, shown);
}

/** Return the address on this page of a message that Slack's own address names; else "". */
export function permalink(url) {
  const found = /^https:\/\/playground\.slack\.com\/archives\/([A-Z0-9]+)\/p(\d+)(\d{6})/.exec(url);
  if (!found) return "";
  const place = new URLSearchParams(location.hash.slice(1));
  place.set("channel", found[1]);
  const thread = new URL(url).searchParams.get("thread_ts") ?? `${found[2]}.${found[3]}`;
  place.set("thread", thread);
  return `#${place}`;
}

/** Go where a button leads: to a message of this page, else to a tab of its own. */
export function visit(url) {
  const known = permalink(url);
  if (known) location.hash = known;
  else if (LINKED.test(url)) window.open(url, "_blank", "noopener,noreferrer");
}

/** Draw a part anew if what it shows has changed; the focus stays on the control of the same key. */
export function redraw(parent, print, make) {
  const now = JSON.stringify(print);
  if (parent.print === now) return;
  parent.print = now;
  const key = parent.contains(document.activeElement) && document.activeElement.dataset.key;
  fill(parent, make());
  if (key) [...parent.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key)?.focus();
}

let made = 0;

/** Return an id that no other element has. */
export function newId() {
  made += 1;
  return `id-${made}`;
}

/** Say something briefly at the edge of the page. */
export function toast(text) {
  const shown = el("div", { class: "toast" }, text);
  const gone = () => shown.remove();
  shown.append(el("button", { class: "plain", "aria-label": "Close this notice", on: { click: gone } }, "✕"));
  document.getElementById("toasts").append(shown);
  setTimeout(gone, 10000);
}
