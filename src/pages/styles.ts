import { readFileSync } from "node:fs";
import latinExtended from "@fontsource-variable/geist/files/geist-latin-ext-wght-normal.woff2" with {
  type: "file",
};
import latin from "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2" with {
  type: "file",
};
import activity from "./styles/activity.css" with { type: "text" };
import alone from "./styles/alone.css" with { type: "text" };
import base from "./styles/base.css" with { type: "text" };
import buttons from "./styles/buttons.css" with { type: "text" };
import connect from "./styles/connect.css" with { type: "text" };
import content from "./styles/content.css" with { type: "text" };
import docs from "./styles/docs.css" with { type: "text" };
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

/** A stylesheet, script, font or icon of the pages. */
export type Asset = ReturnType<typeof asset>;

/** Removes comments from our scripts and stylesheets, where comments have lines of their own. Licences stay. */
export function withoutComments(text: string): string {
  return text.replaceAll(/^[^\S\n]*(?:\/\*(?!!)[\s\S]*?\*\/|\/\/.*)[^\S\n]*\n/gm, "");
}

/** Makes an asset whose path contains a hash of its content, so browsers may cache it forever. */
export function asset(content: string | Uint8Array, extension: string, type: string) {
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex").slice(0, 16);
  const isText = typeof content === "string";
  return {
    content: isText ? new TextEncoder().encode(content) : new Uint8Array(content),
    /** Whether the content is text, which is compressed. */
    isText,
    type: isText ? `${type}; charset=utf-8` : type,
    path: `/assets/${hash}.${extension}`,
  };
}

/** Characters of Western European languages. */
export const LATIN = font(latin);
/** Characters of other languages in Latin script. Browsers load it only for pages that contain some. */
const LATIN_EXTENDED = font(latinExtended);

export const FONTS: readonly Asset[] = [LATIN, LATIN_EXTENDED];

/**
 * The font of all pages, with all weights in one file. Other scripts use the font of the system. If the font does not
 * load in time, a browser shows the page without it, so that no text moves.
 */
const FONT_FACES = [
  fontFace(
    LATIN,
    "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD",
  ),
  fontFace(
    LATIN_EXTENDED,
    "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF",
  ),
].join("");

function font(path: string): Asset {
  return asset(readFileSync(path), "woff2", "font/woff2");
}

/** @param range the characters in the file, copied from the stylesheet of the font's package */
function fontFace({ path }: Asset, range: string): string {
  return `@font-face{font-family:Geist;font-weight:100 900;font-display:optional;src:url(${path}) format("woff2");unicode-range:${range}}\n`;
}

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

/** A class for each colour of groups on the map. */
const HUES = Array.from(
  { length: 10 },
  (_, bit) => `.hue-${bit + 1}{background:var(--hue-${bit + 1})}`,
);

/** The stylesheet of all pages. */
export const STYLE_TEXT = [FONT_FACES, ...PARTS, ...HUES].join("\n");

/** The stylesheet of the API page, whose other styles are Scalar's. */
export const API_STYLE_TEXT = [FONT_FACES, tokens, docs].join("\n");
