import htmx from "htmx.org/dist/htmx.min.js" with { type: "text" };
import uplot from "uplot/dist/uPlot.iife.min.js" with { type: "text" };
import uplotStyles from "uplot/dist/uPlot.min.css" with { type: "text" };
import charts from "./charts.js" with { type: "text" };
import script from "./enhance.js" with { type: "text" };
import passkeys from "./passkeys.js" with { type: "text" };
import styles from "./styles.css" with { type: "text" };

/** A file that pages ask for beside their HTML. */
export interface Asset {
  readonly text: string;
  readonly type: string;
  readonly path: string;
}

export const STYLES = asset(styles, "css", "text/css");

/** What makes pages handier where scripts run. No page needs it. */
export const SCRIPT = asset(script, "js", "text/javascript");

/** What has a browser make and use passkeys, which it does for scripts alone. */
export const PASSKEYS = asset(passkeys, "js", "text/javascript");

/** Fetches a part of a page and puts it in its place, as attributes of the page say. */
export const HTMX = asset(htmx, "js", "text/javascript");

/** What draws charts. */
export const CHARTS: readonly Asset[] = [
  asset(uplotStyles, "css", "text/css"),
  asset(uplot, "js", "text/javascript"),
  asset(charts, "js", "text/javascript"),
];

/** All that `routes.ts` serves. */
export const ASSETS: readonly Asset[] = [STYLES, SCRIPT, PASSKEYS, HTMX, ...CHARTS];

/** Other text has another path, so that a browser may keep a file for good. */
function asset(text: string, extension: string, type: string): Asset {
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);
  return { text, type: `${type}; charset=utf-8`, path: `/assets/${hash}.${extension}` };
}
