import { Elysia } from "elysia";
import styles from "./styles.css" with { type: "text" };

const hash = new Bun.CryptoHasher("sha256").update(styles).digest("hex").slice(0, 16);

/** Where the stylesheet is; another one has another path, so that a browser may keep it for good. */
export const STYLES_PATH = `/assets/${hash}.css`;

/** Serves the stylesheet of all pages. */
export function createStyles() {
  return new Elysia().get(
    STYLES_PATH,
    () =>
      new Response(styles, {
        headers: {
          "content-type": "text/css; charset=utf-8",
          "cache-control": "public, max-age=31536000, immutable",
        },
      }),
    { detail: { hide: true } },
  );
}
