// What the page knows: who one is, where one looks, and what the workspace last said.

export const world = {
  /** the answer of /_play/state; null until it has come */
  state: null,
  people: new Map(),
  /** of the channel that is shown */
  channel: "",
  messages: [],
  unread: new Set(),
  lost: false,
};

const DIRECT = "@";

/** Return who one is, the channel and the thread: they are in the address, so tabs can differ. */
export function place() {
  const said = new URLSearchParams(location.hash.slice(1));
  const tab = said.get("tab") ?? "messages";
  return {
    as: said.get("as") ?? "ada",
    channel: said.get("channel") ?? "training-oncall",
    thread: said.get("thread") ?? "",
    tab,
  };
}

/** Go elsewhere; what is not named stays. */
export function go(change) {
  const next = { ...place(), ...change };
  const said = new URLSearchParams();
  for (const name of ["as", "channel", "thread", "tab"]) {
    if (next[name] && !(name === "tab" && next.tab === "messages")) said.set(name, next[name]);
  }
  if (location.hash !== `#${said}`) location.hash = said.toString();
}

/** Tell whether one looks at the messages with the app, or its Home tab. */
export const isDirect = () => place().channel === DIRECT || channel()?.kind === "im";

/** Return the channel that is shown, as the state has it; undefined for a first direct message. */
export function channel() {
  const wanted = world.channel || place().channel;
  return world.state?.channels.find((one) => one.id === wanted || one.name === wanted);
}

/** Ask the workspace to do something as the person one is; the answer always has `ok`. */
export function act(what, given) {
  return posted(`/_play/${what}`, {
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ as: place().as, ...given }),
  });
}

/** Send a file; without a channel it is kept for a modal. */
export function upload(file, given = {}) {
  const form = new FormData();
  form.set("as", place().as);
  for (const [name, value] of Object.entries(given)) if (value) form.set(name, value);
  form.set("file", file, file.name);
  return posted("/_play/file", { body: form });
}

async function posted(url, asked) {
  try {
    const answer = await fetch(url, { method: "POST", ...asked });
    return { error: "", ...(await answer.json()) };
  } catch {
    return { ok: false, error: "The workspace cannot be reached. Is it still running?" };
  }
}

async function seen(what, asked) {
  const answer = await fetch(`/_play/${what}?${new URLSearchParams(asked)}`);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body;
}

/** Look at everything anew. */
export async function look() {
  const { as, channel: wanted } = place();
  const state = await seen("state", { as });
  // Not everybody is in every channel: a person starts in their first.
  const there = wanted === DIRECT || state.channels.some((one) => [one.id, one.name].includes(wanted));
  const shown = await seen("messages", { as, channel: there ? wanted : state.channels[0]?.id ?? DIRECT });
  if (as !== place().as || wanted !== place().channel) return;
  world.state = state;
  world.people = new Map(state.people.map((one) => [one.id, one]));
  world.channel = shown.channel;
  world.messages = shown.messages;
  world.unread.delete(shown.channel);
}

/** Call back at each change that concerns the person; calls while one runs become one. */
export function watch(changed) {
  let running = false;
  let again = false;
  const run = async () => {
    if (running) {
      again = true;
      return;
    }
    running = true;
    do {
      again = false;
      await changed();
    } while (again);
    running = false;
  };
  const feed = new EventSource("/_play/feed");
  feed.addEventListener("open", () => {
    world.lost = false;
    run();
  });
  feed.addEventListener("error", () => {
    world.lost = true;
    run();
  });
  feed.addEventListener("message", (event) => {
    const change = JSON.parse(event.data);
    const other = change.user && world.state && change.user !== world.state.me.id;
    if (other) return;
    if (["message", "ephemeral"].includes(change.kind) && change.channel !== world.channel) {
      world.unread.add(change.channel);
    }
    run();
  });
  return run;
}
