import { readFileSync } from "node:fs";
import latinExtended from "@fontsource-variable/geist/files/geist-latin-ext-wght-normal.woff2" with {
  type: "file",
};
import latin from "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2" with {
  type: "file",
};
import { type Asset, asset } from "./asset.ts";

/** Characters of Western European languages. */
export const LATIN = font(latin);
/** Characters of other languages in Latin script. Browsers load it only for pages that contain some. */
const LATIN_EXTENDED = font(latinExtended);

export const FONTS: readonly Asset[] = [LATIN, LATIN_EXTENDED];

/**
 * The font of all pages, with all weights in one file. Other scripts use the font of the system. If the font does not
 * load in time, a browser shows the page without it, so that no text moves.
 */
export const FONT_FACES = [
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
