// Where blocks stand: what is held in their fields, and how the app is told of an act.

import { toast } from "./dom.js";
import { text } from "./mrkdwn.js";
import { confirmed } from "./popover.js";
import { act } from "./world.js";

const MEMBERS = [
  "value", "selected_date", "selected_time", "selected_date_time", "selected_user", "selected_users",
  "selected_conversation", "selected_conversations", "selected_channel", "selected_channels",
  "selected_option", "selected_options", "files",
];

const REASONS = {
  timeout: "The app did not answer within three seconds.",
  http_timeout: "The app did not answer within three seconds.",
  not_connected: "The app is not connected.",
  connection_failed: "The app could not be reached.",
};

/** A message's or a view's blocks; `where` is what acts name it by. */
export class Surface {
  constructor({ where, values, markdown = {}, modal = false, heard = () => {} }) {
    Object.assign(this, { where, values, markdown, modal, heard });
    /** what was typed into a view and not yet sent: block id → action id → value */
    this.typed = {};
    /** what was chosen just now, as it is shown */
    this.chosen = new Map();
  }

  /** Return what the workspace says a field holds. */
  held(block, element) {
    const state = this.values?.[block.block_id]?.[element.action_id];
    const member = state && MEMBERS.find((name) => name in state);
    return member ? state[member] : undefined;
  }

  /** Keep what was typed, until it is sent. */
  type(block, element, value) {
    (this.typed[block.block_id] ??= {})[element.action_id] = value;
  }

  /** Take over what was typed into the view that stood here before. */
  resume(before, blocks) {
    const there = new Set(blocks.map((one) => one.block_id));
    for (const [name, held] of Object.entries(before.typed)) if (there.has(name)) this.typed[name] = held;
    this.chosen = before.chosen;
  }

  /** A field's value was changed: inputs of views keep it, everything else tells the app. */
  async changed(block, element, value, control) {
    if (this.where.view_id && block.type === "input") {
      this.type(block, element, value);
      if (!block.dispatch_action) return;
    }
    await this.press(block, element, value, control);
  }

  /** Press something, after asking where it wants to be confirmed. */
  async press(block, element, value, control) {
    if (control.getAttribute("aria-busy") === "true") return;
    if (element.confirm && !(await confirmed(element.confirm, text))) return;
    control.setAttribute("aria-busy", "true");
    if (Object.keys(this.typed).length) await act("fill", { ...this.where, values: this.typed });
    const given = { ...this.where, block_id: block.block_id, action_id: element.action_id, value };
    const answer = await act("press", { ...given, confirmed: Boolean(element.confirm) });
    control.removeAttribute("aria-busy");
    this.heard("press");
    this.say(answer, control);
  }

  /** Ask the app for the options of an external menu. */
  async suggested(block, element, typed) {
    const given = { ...this.where, block_id: block.block_id, action_id: element.action_id, value: typed };
    const answer = await act("suggest", given);
    if (!answer.ok) toast(answer.error);
    return answer.options ?? [];
  }

  say(answer, control) {
    const why = answer.ok ? answer.failed && (REASONS[answer.failed] ?? `The app failed: ${answer.failed}.`) : answer.error;
    control.classList.toggle("failed", Boolean(why));
    if (why) toast(why);
  }
}
