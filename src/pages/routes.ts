import { Elysia } from "elysia";
import { STYLES } from "./styles.ts";

/** Serves what pages are made of beside their HTML. */
export function createPageRoutes() {
  return new Elysia().get(
    STYLES.path,
    () =>
      new Response(STYLES.text, {
        headers: {
          "content-type": "text/css; charset=utf-8",
          "cache-control": "public, max-age=31536000, immutable",
        },
      }),
    { detail: { hide: true } },
  );
}
