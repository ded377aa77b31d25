import peers from "../help/peers.svg" with { type: "text" };
import year from "../help/year.svg" with { type: "text" };
import favicon from "./favicon.svg" with { type: "text" };
import enhance from "./scripts/enhance.browser.js" with { type: "text" };
import keys from "./scripts/keys.browser.js" with { type: "text" };
import live from "./scripts/live.browser.js" with { type: "text" };
import livePart from "./scripts/live-part.browser.js" with { type: "text" };
import mapPage from "./scripts/map.browser.js" with { type: "text" };
import mapCanvas from "./scripts/map-canvas.browser.js" with { type: "text" };
import mapPainter from "./scripts/map-painter.browser.js" with { type: "text" };
import mapPointers from "./scripts/map-pointers.browser.js" with { type: "text" };
import mapView from "./scripts/map-view.browser.js" with { type: "text" };
import mapWords from "./scripts/map-words.browser.js" with { type: "text" };
import moments from "./scripts/moments.browser.js" with { type: "text" };
import nonces from "./scripts/nonces.browser.js" with { type: "text" };
import palette from "./scripts/palette.browser.js" with { type: "text" };
import paletteEntries from "./scripts/palette-entries.browser.js" with { type: "text" };
import passkeys from "./scripts/passkeys.browser.js" with { type: "text" };
import search from "./scripts/search.browser.js" with { type: "text" };
import selection from "./scripts/selection.browser.js" with { type: "text" };
import welcome from "./scripts/welcome.browser.js" with { type: "text" };
import { API_STYLE_TEXT, type Asset, asset, FONTS, STYLE_TEXT, withoutComments } from "./styles.ts";

export const STYLES = asset(withoutComments(STYLE_TEXT), "css", "text/css");

export const API_STYLES = asset(withoutComments(API_STYLE_TEXT), "css", "text/css");

export const FAVICON = asset(favicon, "svg", "image/svg+xml");

/** Pictures of the help pages, by their names there. */
export const PICTURES: Readonly<Record<string, Asset>> = {
  "peers.svg": asset(peers, "svg", "image/svg+xml"),
  "year.svg": asset(year, "svg", "image/svg+xml"),
};

/** The script of all dashboard pages: several files in one scope. Pages also work without it. */
export const SCRIPT = script(
  inOneScope(moments, enhance, keys, paletteEntries, palette, search, selection),
);

/** Creates and uses passkeys. Browsers offer passkeys only to scripts. */
export const PASSKEYS = script(passkeys);

/** Updates a part of a page when it changes on the server. */
export const LIVE = script(inOneScope(livePart, live));

/** Shows when the first agent connects. */
export const WELCOME = script(welcome);

/** Draws the map of memories. */
export const MAP = script(
  inOneScope(mapPainter, mapView, mapCanvas, mapWords, mapPointers, mapPage),
);

/** Gives the styles of the API page its nonce. */
export const NONCES = script(inOneScope(nonces));

/** All assets; `routes.ts` serves them. */
export const ASSETS: readonly Asset[] = [
  STYLES,
  API_STYLES,
  FAVICON,
  ...Object.values(PICTURES),
  ...FONTS,
  SCRIPT,
  PASSKEYS,
  LIVE,
  WELCOME,
  MAP,
  NONCES,
];

/** Joins scripts in one function, so that they share names with each other but not with other scripts. */
function inOneScope(...scripts: readonly string[]): string {
  return ["(() => {", ...scripts, "})();"].join("\n");
}

function script(text: string): Asset {
  return asset(withoutComments(text), "js", "text/javascript");
}
