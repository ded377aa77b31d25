import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Api, Asked, Event, Json, Reply } from "./api.ts";
import { chat } from "./chat.ts";
import { gemini } from "./gemini.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";
import { isSearch, replyTo } from "./script.ts";

const APIS: readonly Api[] = [chat, responses, messages, gemini];
const UNPACK: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: Bun.zstdDecompressSync,
};

const THOUGHT_MS = 1_000;
/** The name of the only model. */
export const MODEL = "stand-in";
/** What programs that ask for a list of models need to know of it. */
const DESCRIPTION = {
  ...{ id: MODEL, name: MODEL, display_name: "Stand-in", object: "model", type: "model" },
  ...{ created: 1, owned_by: "nobody", context_length: 128_000, context_window: 128_000 },
  ...{ capabilities: {}, supported_parameters: ["tools"] },
};

/** A request for an answer of the model, and that answer. */
export interface Exchange extends Asked {
  readonly reply: Reply;
}

/**
 * Stands in for the models behind agents: speaks their APIs, plain and streamed, and answers by what the prompt
 * says (`script.ts`). It records what it was asked.
 */
export function startStandIn() {
  const exchanges: Exchange[] = [];
  /** The other requests, such as those of telemetry. */
  const others: string[] = [];

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const api = request.method === "POST" && APIS.find(({ path }) => path.test(pathname));
    if (!api) {
      others.push(`${request.method} ${pathname}`);
      return answerOther(request.method, pathname);
    }
    const body = await bodyOf(request);
    const asked = api.read(body);
    const reply = replyTo(asked);
    exchanges.push({ ...asked, reply });
    // A model takes its time, in which servers start: so do those who look for a tool in vain.
    if (isSearch(reply)) await Bun.sleep(THOUGHT_MS);
    if (!api.isStreamed(body, pathname)) return Response.json(api.answer(reply, body));
    const events = api.stream(reply, body).map(render).join("");
    return new Response(events, { headers: { "content-type": "text/event-stream" } });
  }

  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  return {
    /** Its address, without a slash at the end. */
    origin: server.url.origin,
    exchanges,
    others,
    close: () => server.stop(true),
  };
}
export type StandIn = ReturnType<typeof startStandIn>;

async function bodyOf(request: Request): Promise<Json> {
  const unpack = UNPACK[request.headers.get("content-encoding") ?? ""];
  const bytes = new Uint8Array(await request.arrayBuffer());
  return JSON.parse(new TextDecoder().decode(unpack ? unpack(bytes) : bytes));
}

function render({ name, data }: Event): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${text}\n\n`;
}

function answerOther(method: string, path: string): Response {
  if (path.endsWith("/models")) {
    return Response.json({ object: "list", data: [DESCRIPTION], models: [], has_more: false });
  }
  if (path.includes("/models/") && method === "GET") return Response.json(DESCRIPTION);
  if (/count_?tokens$/i.test(path)) return Response.json({ input_tokens: 100, totalTokens: 100 });
  return Response.json({}, { status: method === "GET" ? 404 : 200 });
}
