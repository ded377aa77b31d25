import { Elysia } from "elysia";
import { ASSETS } from "./assets.ts";

/** Serves what pages are made of beside their HTML. */
export function createPageRoutes() {
  const routes = new Elysia();
  for (const { path, text, type } of ASSETS) {
    const headers = {
      "content-type": type,
      "cache-control": "public, max-age=31536000, immutable",
    };
    routes.get(path, () => new Response(text, { headers }), { detail: { hide: true } });
  }
  return routes;
}
