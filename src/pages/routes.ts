import { Elysia } from "elysia";
import type { Config } from "../config/config.ts";
import { createSecret } from "../db/id.ts";
import { readForm } from "../http/requests/form.ts";
import { createHostCheck } from "../http/requests/proxy.ts";
import { ASSETS, FAVICON } from "./assets.ts";
import { type Cookies, checkForm, FORM_TOKEN, formToken } from "./cookies.ts";
import type { Markup } from "./jsx-runtime.ts";
import {
  type Awaitable,
  answerWithPage,
  PAGE_ROUTE,
  type PageOptions,
  pageResponse,
} from "./page-response.tsx";
import type { Asset } from "./styles.ts";
import { THEME_STYLE_PATH, themeOf, themeStyle } from "./theme.tsx";

/** For a path that contains a hash of its content. */
export const CACHE_FOREVER = "public, max-age=31536000, immutable";

/** Serves the assets of the pages. */
export function createPageRoutes({ cookies }: { cookies: Pick<Cookies, "read"> }) {
  const routes = new Elysia();
  const hidden = { detail: { hide: true } };
  const headers = { "content-type": "text/css; charset=utf-8", "cache-control": "no-store" };
  routes.get(
    THEME_STYLE_PATH,
    ({ request }) => new Response(themeStyle(themeOf(cookies, request)), { headers }),
    hidden,
  );
  for (const each of ASSETS) routes.get(each.path, serve(each, CACHE_FOREVER), hidden);
  // Browsers request this path for responses that name no icon, such as JSON.
  return routes.get("/favicon.ico", serve(FAVICON, "public, max-age=86400"), hidden);
}

/** Makes a handler that sends an asset. Texts are compressed, only once. */
function serve({ content, isText, type }: Asset, cacheControl: string) {
  const headers = { "content-type": type, "cache-control": cacheControl };
  let compressed: Uint8Array<ArrayBuffer> | undefined;
  return ({ request }: { request: Request }): Response => {
    if (!isText) return new Response(content, { headers });
    compressed ??= Bun.gzipSync(content, { level: 9 });
    return sendText(request, compressed, headers);
  };
}

/** The answer with a text: as gzip if the client accepts it. */
export function sendText(
  request: Request,
  compressed: Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
): Response {
  const varied = { ...headers, vary: "accept-encoding" };
  if (!acceptsGzip(request)) return new Response(Bun.gunzipSync(compressed), { headers: varied });
  return new Response(compressed, { headers: { ...varied, "content-encoding": "gzip" } });
}

/** Whether the client accepts gzip (RFC 9110, section 12.5.3). */
function acceptsGzip(request: Request): boolean {
  const accepted = (request.headers.get("accept-encoding") ?? "").toLowerCase().split(",");
  return accepted.some((each) => {
    const [coding = "", quality = "q=1"] = each.split(";").map((part) => part.trim());
    return coding === "gzip" && Number(quality.replace(/^q\s*=/, "")) > 0;
  });
}

export type PageGuard = ReturnType<typeof createPageGuard>;

/** Guards pages for visitors who are not signed in yet. */
export function createPageGuard({
  config,
  cookies,
}: {
  config: Pick<Config, "publicUrl" | "trustProxy">;
  cookies: Pick<Cookies, "read" | "set">;
}) {
  const { publicUrl } = config;
  const checkHost = createHostCheck(config);

  /** The token for the forms of a visitor who is not signed in, and the headers that set its cookie. */
  const issueFormToken = (request: Request): { token: string; headers: Record<string, string> } => {
    const known = cookies.read(request, "visit");
    if (known !== null) return { token: formToken(known), headers: {} };
    const visit = createSecret("");
    const headers = { "set-cookie": cookies.set("visit", visit, null) };
    return { token: formToken(visit), headers };
  };

  const routes = new Elysia().guard(PAGE_ROUTE);
  /** @param handle also receives the part of the path that the route names; empty if it names none */
  const add =
    (method: "GET" | "POST") =>
    (path: string, handle: (request: Request, part: string) => Awaitable<Response>): void => {
      routes.route(method, path, ({ request, params }: Context) =>
        answerWithPage(() => {
          checkHost(request);
          return handle(request, Object.values(params ?? {})[0] ?? "");
        }),
      );
    };

  return {
    checkHost,
    issueFormToken,

    /** Collects pages in `routes`. An `AppError` below status 500 becomes an error page. */
    pages: { routes, get: add("GET"), post: add("POST") },

    /** The page with a form for a visitor. */
    formPage(
      request: Request,
      render: (token: string) => Markup,
      options: PageOptions = {},
    ): Response {
      const { token, headers } = issueFormToken(request);
      return pageResponse(render(token), {
        ...options,
        headers: { ...headers, ...options.headers },
      });
    },

    /**
     * Reads a form of our pages.
     * @param name the cookie that the form's token was computed from
     * @returns the form, and the value of the cookie
     * @throws AppError as `checkForm` and `readForm`
     */
    async receive(request: Request, name: "visit" | "pending" | "session") {
      checkHost(request);
      const form = await readForm(request);
      const cookie = cookies.read(request, name);
      checkForm(request, { token: form.get(FORM_TOKEN), cookie, publicUrl });
      return { form, secret: cookie ?? "" };
    },
  };
}

/** What Elysia passes to a handler. Paths without a parameter have no `params`. */
interface Context {
  request: Request;
  params?: Record<string, string>;
}
