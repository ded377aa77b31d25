/** @jsxRuntime automatic @jsxImportSource #pages */
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Elysia } from "elysia";
import scalar from "../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with {
  type: "file",
};
import { createSecret } from "../db/id.ts";
import {
  correctDocument,
  DOCUMENTATION,
  type JsonObject,
  requestsOf,
} from "../http/api-document.ts";
import { ErrorBody } from "../http/openapi.ts";
import { API_STYLES, FAVICON, NONCES } from "./assets.ts";
import { CACHE_FOREVER, sendText } from "./routes.ts";
import { LATIN } from "./styles.ts";
import { Table } from "./table.tsx";

/** The path has a hash of the script, so browsers may cache it forever. */
const SCRIPT_PATH = `/assets/${Bun.hash(readFileSync(scalar)).toString(16)}.js`;

/** The script as gzip. The executable has it so already; in a checkout it is compressed once, on another thread. */
async function loadScript(): Promise<Uint8Array<ArrayBuffer>> {
  const content = await Bun.file(scalar).bytes();
  const isGzip = content[0] === 0x1f && content[1] === 0x8b;
  return isGzip ? content : new Uint8Array(await promisify(gzip)(content));
}

/** Scalar's settings (https://github.com/scalar/scalar, documentation/configuration.md). Nothing asks another host. */
const SETTINGS = {
  // Its name in earlier versions.
  spec: undefined,
  // The style of the page is ours.
  customCss: "",
  theme: "none",
  withDefaultFonts: false,
  hideDarkModeToggle: true,
  featuredClients: ["shell/curl", "js/fetch", "python/requests"],
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  authentication: { preferredSecurityScheme: "apiKey" },
  documentDownloadType: "none",
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
};

/** Nothing is loaded from other hosts. Styles that scripts make have the nonce; elements may have attributes with styles. */
function policyOf(nonce: string): string {
  return `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; style-src-attr 'unsafe-inline'; font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/**
 * The API page at `/docs` and its OpenAPI document at `/docs/json`. The plugin writes both. Its page shows the
 * document with Scalar, which comes from here and not from another host.
 */
export function createDocs(publicUrl: string) {
  const hidden = { detail: { hide: true } };

  // Loaded at the first request: a server starts faster without the plugin.
  const load = async () => {
    const { swagger } = await import("@elysiajs/swagger");
    const contact = { name: "The operator of this server", url: publicUrl };
    const plugin = swagger({
      path: "/docs",
      scalarCDN: SCRIPT_PATH,
      scalarConfig: SETTINGS as object,
      documentation: { ...DOCUMENTATION, info: { ...DOCUMENTATION.info, contact } },
    });
    docs.use(plugin);
    const made = async (path: string) =>
      (await plugin.handle(new Request(`http://localhost${path}`))).text();
    const document = correctDocument(await made("/docs/json"));
    const json = await promisify(gzip)(JSON.stringify(document));
    const page = completePage(await made("/docs"), document);
    return { json: new Uint8Array(json), page };
  };
  let loading: ReturnType<typeof load> | undefined;
  const loaded = () => {
    loading ??= load();
    return loading;
  };
  let script: ReturnType<typeof loadScript> | undefined;

  const docs = new Elysia()
    .model({ Error: ErrorBody })
    .get(
      "/docs/json",
      async ({ request }) =>
        sendText(request, (await loaded()).json, { "content-type": "application/json" }),
      hidden,
    )
    .get(
      "/docs",
      async () => {
        const nonce = createSecret("");
        const page = (await loaded()).page.replace(NONCE, nonce);
        const headers = {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": policyOf(nonce),
        };
        return new Response(page, { headers });
      },
      hidden,
    )
    .get(
      SCRIPT_PATH,
      async ({ request }) => {
        script ??= loadScript();
        return sendText(request, await script, {
          "content-type": "text/javascript; charset=utf-8",
          "cache-control": CACHE_FOREVER,
        });
      },
      hidden,
    );
  return docs;
}

/** Stands for the nonce in the page. */
const NONCE = "NONCE";

/** The plugin's page with our head and style, a way home, and the list of requests for browsers without scripts. */
function completePage(page: string, document: JsonObject): string {
  const html = { html: true };
  const remove = (element: HTMLRewriterTypes.Element) => void element.remove();
  return (
    new HTMLRewriter()
      .on("html", { element: (element) => void element.setAttribute("lang", "en") })
      .on("title", { element: (element) => void element.setInnerContent("API · ctxd") })
      .on("style", { element: remove })
      .on("meta[name$=description]", { element: remove })
      // After the script in our head.
      .on("script[src]", { element: (element) => void element.setAttribute("defer", "") })
      .on("#api-reference", {
        element: (element) =>
          void element
            .setAttribute("data-url", "/docs/json")
            .setAttribute("type", "application/json"),
      })
      .on("head", { element: (element) => void element.append(`${<Head />}`, html) })
      .on("body", {
        element: (element) => void element.prepend(`${<Top document={document} />}`, html),
      })
      .transform(page)
  );
}

function Head() {
  return (
    <>
      <meta name="color-scheme" content="light dark" />
      <meta property="csp-nonce" content={NONCE} />
      <link rel="icon" type="image/svg+xml" href={FAVICON.path} />
      <link rel="preload" as="font" type={LATIN.type} crossorigin="" href={LATIN.path} />
      <link rel="stylesheet" href={API_STYLES.path} />
      <script src={NONCES.path} defer={true} />
    </>
  );
}

function Top({ document }: { document: JsonObject }) {
  return (
    <>
      <header class="top">
        <a class="brand" href="/">
          ctxd
        </a>
        <nav aria-label="Main">
          <a href="/">Dashboard</a>
          <a href="/help/api">Help</a>
          <a href="/docs/json">OpenAPI document</a>
        </nav>
      </header>
      <noscript>
        <main>
          <h1>API</h1>
          <p>
            With JavaScript, this page shows each request with samples and sends it. The OpenAPI
            document has all of it, too.
          </p>
          <Table
            caption="Requests"
            rows={requestsOf(document)}
            columns={[
              { title: "Request", cell: ({ method, path }) => <code>{`${method} ${path}`}</code> },
              { title: "What it does", cell: ({ summary }) => summary },
            ]}
          />
        </main>
      </noscript>
    </>
  );
}
