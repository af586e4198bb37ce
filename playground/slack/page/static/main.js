// The page: what is where, and when it is drawn anew.

import { blocks } from "./blocks.js";
import { composer } from "./composer.js";
import { el, fill } from "./dom.js";
import { follow, showGuide } from "./guide.js";
import { inChannel, inThread, keepAtEnd, show } from "./messages.js";
import { showModal } from "./modal.js";
import { showHead, showSide } from "./side.js";
import { Surface } from "./surface.js";
import { act, go, isDirect, look, place, watch, world, channel } from "./world.js";

const part = Object.fromEntries(
  ["side", "head", "notice", "log", "home", "guide", "compose", "thread"].map((id) => [id, document.getElementById(id)]),
);
const main = composer({ name: "Message" });
const reply = composer({ name: "Reply", thread: () => place().thread });
const threadLog = el("div", { class: "log", role: "log", "aria-label": "Replies", tabindex: "0" });
let prefilled = false;
let homeShown = "";
let askedHome = "";

fill(part.compose, main.box);
fill(
  part.thread,
  el("div", { class: "top" }, el("h2", {}, "Thread"),
    el("button", { type: "button", class: "plain", "aria-label": "Close the thread", on: { click: closeThread } }, "✕")),
  threadLog,
  reply.box,
);

function closeThread() {
  go({ thread: "" });
  main.field.focus();
}

function draw() {
  showSide(part.side);
  showHead(part.head);
  notice();
  const home = isDirect() && place().tab === "home";
  for (const one of [part.log, part.compose, part.guide]) one.hidden = home;
  part.home.hidden = !home;
  if (home) showHome();
  else show(part.log, inChannel());
  thread();
  showModal();
  showGuide(part.guide);
  main.rename(`Message ${isDirect() ? world.state.app.name : `#${channel()?.name ?? ""}`}`);
  document.title = `${world.unread.size ? "• " : ""}${isDirect() ? world.state.app.name : `#${channel()?.name ?? ""}`}`;
  if (!prefilled && world.state.guide?.line) {
    main.set(world.state.guide.line);
    if (!world.state.modal.length) main.field.focus();
  }
  prefilled = true;
}

function thread() {
  const { thread: ts } = place();
  const shown = ts ? inThread(ts) : [];
  document.body.classList.toggle("thread-open", shown.length > 0);
  part.thread.hidden = !shown.length;
  if (!shown.length) return;
  if (part.thread.dataset.ts !== ts) fill(threadLog);
  part.thread.dataset.ts = ts;
  show(threadLog, shown, { inPane: true });
}

function notice() {
  const said = problem();
  if (part.notice.textContent === said) return;
  fill(part.notice, said && el("p", {}, said));
}

function problem() {
  if (world.lost) return "The workspace cannot be reached: what you see may be old. Trying again …";
  if (!world.state.reachable) return "The app is not connected yet: commands and buttons will fail.";
  return channel()?.archived ? "This channel is archived." : "";
}

function showHome() {
  const me = world.state.me.id;
  if (askedHome !== me) {
    askedHome = me;
    act("home", {});
  }
  const view = world.state.home;
  const print = JSON.stringify([view, me]);
  if (print === homeShown) return;
  homeShown = print;
  const surface = view && new Surface({ where: { view_id: view.id }, values: view.state.values });
  fill(part.home, view ? blocks(surface, view.blocks) : el("p", { class: "quiet" }, "The app has not shown its Home tab yet."));
}

async function changed() {
  try {
    await look();
  } catch (error) {
    if (!world.state) {
      fill(part.notice, el("p", {}, error.message));
      return;
    }
    world.lost = true;
  }
  draw();
}

follow(part.guide);
document.querySelector(".skip").addEventListener("click", (event) => {
  // The address says where one is, so the link must not change it.
  event.preventDefault();
  main.field.focus();
});
keepAtEnd(part.log);
keepAtEnd(threadLog);
const run = watch(changed);
addEventListener("hashchange", () => {
  if (place().tab !== "home") askedHome = "";
  run();
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open], :popover-open")) return;
  if (place().thread) closeThread();
  document.body.classList.remove("side-open");
});
