import { Elysia } from "elysia";
import { ASSETS, FAVICON } from "./assets.ts";
import type { Asset } from "./styles.ts";

const CACHE_FOREVER = "public, max-age=31536000, immutable";

/** Serves the assets of the pages. */
export function createPageRoutes() {
  const routes = new Elysia();
  const hidden = { detail: { hide: true } };
  for (const each of ASSETS) routes.get(each.path, serve(each, CACHE_FOREVER), hidden);
  // Browsers request this path for responses that name no icon, such as JSON.
  return routes.get("/favicon.ico", serve(FAVICON, "public, max-age=86400"), hidden);
}

/** Makes a handler that sends an asset, compressed if the client accepts gzip. It is compressed only once. */
function serve({ content, isText, type }: Asset, cacheControl: string) {
  const headers = { "content-type": type, "cache-control": cacheControl };
  let compressed: Uint8Array<ArrayBuffer> | undefined;
  return ({ request }: { request: Request }): Response => {
    if (!isText) return new Response(content, { headers });
    const varied = { ...headers, vary: "accept-encoding" };
    if (!acceptsGzip(request)) return new Response(content, { headers: varied });
    compressed ??= Bun.gzipSync(content, { level: 9 });
    return new Response(compressed, { headers: { ...varied, "content-encoding": "gzip" } });
  };
}

/** Whether the client accepts gzip (RFC 9110, section 12.5.3). */
function acceptsGzip(request: Request): boolean {
  const accepted = (request.headers.get("accept-encoding") ?? "").toLowerCase().split(",");
  return accepted.some((each) => {
    const [coding = "", quality = "q=1"] = each.split(";").map((part) => part.trim());
    return coding === "gzip" && Number(quality.replace(/^q\s*=/, "")) > 0;
  });
}
