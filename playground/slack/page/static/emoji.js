// Names of emoji that messages of this kind use; a name that is not here is shown as it is.

const EMOJI = new Map(Object.entries({
  "+1": "👍", "-1": "👎", thumbsup: "👍", thumbsdown: "👎", wave: "👋", pray: "🙏", eyes: "👀",
  raised_hands: "🙌", ok_hand: "👌", point_right: "👉", tada: "🎉", rocket: "🚀", fire: "🔥",
  warning: "⚠️", x: "❌", white_check_mark: "✅", heavy_check_mark: "✔️", rotating_light: "🚨",
  hourglass: "⌛", hourglass_flowing_sand: "⏳", stopwatch: "⏱️", alarm_clock: "⏰", bell: "🔔",
  no_bell: "🔕", no_entry: "⛔", no_entry_sign: "🚫", octagonal_sign: "🛑", lock: "🔒", unlock: "🔓",
  key: "🔑", bulb: "💡", information_source: "ℹ️", question: "❓", exclamation: "❗",
  grey_question: "❔", heavy_exclamation_mark: "❗", link: "🔗", wrench: "🔧", hammer: "🔨",
  hammer_and_wrench: "🛠️", gear: "⚙️", computer: "💻", desktop_computer: "🖥️", satellite: "🛰️",
  satellite_antenna: "📡", mag: "🔍", mag_right: "🔎", memo: "📝", clipboard: "📋", ticket: "🎫",
  package: "📦", floppy_disk: "💾", file_folder: "📁", page_facing_up: "📄", paperclip: "📎",
  robot_face: "🤖", speech_balloon: "💬", thread: "🧵", pushpin: "📌", skull: "💀", zzz: "💤",
  arrows_counterclockwise: "🔄", repeat: "🔁", arrow_right: "➡️", arrow_up: "⬆️", arrow_down: "⬇️",
  chart_with_upwards_trend: "📈", bar_chart: "📊", red_circle: "🔴", large_red_circle: "🔴",
  large_orange_circle: "🟠", large_yellow_circle: "🟡", large_green_circle: "🟢",
  large_blue_circle: "🔵", white_circle: "⚪", black_circle: "⚫", white_large_square: "⬜",
  heavy_minus_sign: "➖", thinking_face: "🤔", sweat_smile: "😅", slightly_smiling_face: "🙂",
}));

/** Return the emoji of a name; `:name:` where it is unknown. */
export const emoji = (name) => EMOJI.get(name) ?? `:${name}:`;

/** Replace the names in a text that may have them. */
export const withEmoji = (text) => text.replace(/:([a-z0-9_+-]+):/g, (whole, name) => EMOJI.get(name) ?? whole);
