import htmx from "htmx.org/dist/htmx.min.js" with { type: "text" };
import { type Asset, asset, withoutComments } from "./asset.ts";
import favicon from "./favicon.svg" with { type: "text" };
import { FONTS } from "./fonts.ts";
import enhance from "./scripts/enhance.browser.js" with { type: "text" };
import keys from "./scripts/keys.browser.js" with { type: "text" };
import live from "./scripts/live.browser.js" with { type: "text" };
import mapPage from "./scripts/map.browser.js" with { type: "text" };
import mapCanvas from "./scripts/map-canvas.browser.js" with { type: "text" };
import mapWords from "./scripts/map-words.browser.js" with { type: "text" };
import moments from "./scripts/moments.browser.js" with { type: "text" };
import palette from "./scripts/palette.browser.js" with { type: "text" };
import passkeys from "./scripts/passkeys.browser.js" with { type: "text" };
import selection from "./scripts/selection.browser.js" with { type: "text" };
import welcome from "./scripts/welcome.browser.js" with { type: "text" };
import { STYLE_TEXT } from "./styles.ts";

export const STYLES = asset(withoutComments(STYLE_TEXT), "css", "text/css");

export const FAVICON = asset(favicon, "svg", "image/svg+xml");

/** What makes pages handier where scripts run, in one file with names of its own. No page needs it. */
export const SCRIPT = script(
  ["(() => {", moments, enhance, keys, palette, selection, "})();"].join("\n"),
);

/** What has a browser make and use passkeys, which it does for scripts alone. */
export const PASSKEYS = script(passkeys);

/** What keeps a part of a page as it is on the server; see the script. */
export const LIVE = script(live);

/** What sees the first agent come. */
export const WELCOME = script(welcome);

/** Fetches a part of a page and puts it in its place, as attributes of the page say. */
export const HTMX = script(htmx);

/** What draws the map of memories. */
export const MAP: readonly Asset[] = [mapCanvas, mapWords, mapPage].map(script);

/** All that `routes.ts` serves. */
export const ASSETS: readonly Asset[] = [
  STYLES,
  FAVICON,
  ...FONTS,
  SCRIPT,
  PASSKEYS,
  LIVE,
  WELCOME,
  HTMX,
  ...MAP,
];

function script(text: string): Asset {
  return asset(withoutComments(text), "js", "text/javascript");
}
