// The tree that the server made of a markdown block: tags of a fixed list, texts, addresses.

import { el, link } from "./dom.js";

const TAGS = new Set([
  "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "strong",
  "em", "del", "hr", "br", "table", "thead", "tbody", "tr", "th", "td",
]);

/** Return the nodes of a tree. */
export function markdown(tree) {
  return tree.map((one) => {
    if (one.text !== undefined) return one.text;
    const inside = markdown(one.children ?? []);
    if (one.href !== undefined) return link(one.href, ...inside);
    return TAGS.has(one.tag) ? el(one.tag, {}, inside) : inside;
  });
}
