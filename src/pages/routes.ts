import { Elysia } from "elysia";
import type { Asset } from "./asset.ts";
import { ASSETS, FAVICON } from "./assets.ts";

const FOR_GOOD = "public, max-age=31536000, immutable";

/** Serves what pages are made of beside their HTML. */
export function createPageRoutes() {
  const routes = new Elysia();
  const hidden = { detail: { hide: true } };
  for (const each of ASSETS) routes.get(each.path, answers(each, FOR_GOOD), hidden);
  // Browsers ask for it where a page names no icon, such as an answer in JSON.
  return routes.get("/favicon.ico", answers(FAVICON, "public, max-age=86400"), hidden);
}

/** Sends a file, compressed for those who can read that. It is compressed once. */
function answers({ content, isText, type }: Asset, cacheControl: string) {
  const headers = { "content-type": type, "cache-control": cacheControl };
  let compressed: Uint8Array<ArrayBuffer> | undefined;
  return ({ request }: { request: Request }): Response => {
    if (!isText) return new Response(content, { headers });
    const varied = { ...headers, vary: "accept-encoding" };
    if (!takesGzip(request)) return new Response(content, { headers: varied });
    compressed ??= Bun.gzipSync(content, { level: 9 });
    return new Response(compressed, { headers: { ...varied, "content-encoding": "gzip" } });
  };
}

/** Whether an answer may be compressed by gzip (RFC 9110, section 12.5.3). */
function takesGzip(request: Request): boolean {
  const accepted = (request.headers.get("accept-encoding") ?? "").toLowerCase().split(",");
  return accepted.some((each) => {
    const [coding = "", quality = "q=1"] = each.split(";").map((part) => part.trim());
    return coding === "gzip" && Number(quality.replace(/^q\s*=/, "")) > 0;
  });
}
