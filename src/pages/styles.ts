import { FONT_FACES } from "./fonts.ts";
import activity from "./styles/activity.css" with { type: "text" };
import alone from "./styles/alone.css" with { type: "text" };
import base from "./styles/base.css" with { type: "text" };
import buttons from "./styles/buttons.css" with { type: "text" };
import connect from "./styles/connect.css" with { type: "text" };
import content from "./styles/content.css" with { type: "text" };
import forms from "./styles/forms.css" with { type: "text" };
import help from "./styles/help.css" with { type: "text" };
import layout from "./styles/layout.css" with { type: "text" };
import live from "./styles/live.css" with { type: "text" };
import map from "./styles/map.css" with { type: "text" };
import memories from "./styles/memories.css" with { type: "text" };
import memory from "./styles/memory.css" with { type: "text" };
import messages from "./styles/messages.css" with { type: "text" };
import overview from "./styles/overview.css" with { type: "text" };
import palette from "./styles/palette.css" with { type: "text" };
import selection from "./styles/selection.css" with { type: "text" };
import settings from "./styles/settings.css" with { type: "text" };
import tables from "./styles/tables.css" with { type: "text" };
import tokens from "./styles/tokens.css" with { type: "text" };
import undo from "./styles/undo.css" with { type: "text" };
import welcome from "./styles/welcome.css" with { type: "text" };

/** The parts of the stylesheet. Later rules win over earlier ones. */
const PARTS: readonly string[] = [
  tokens,
  base,
  forms,
  buttons,
  messages,
  tables,
  layout,
  content,
  palette,
  alone,
  // Parts for single pages.
  memories,
  memory,
  selection,
  undo,
  activity,
  live,
  map,
  overview,
  help,
  settings,
  welcome,
  connect,
];

/** The stylesheet of all pages. */
export const STYLE_TEXT = [FONT_FACES, ...PARTS].join("\n");
