import http from "node:http";
import https from "node:https";
import { TLSSocket } from "node:tls";
import { CtxdError } from "../errors.ts";

/** Milliseconds after which an answer is not waited for any more. */
const TIMEOUT = 10_000;
/** Bytes of an answer: more is none of this server's. */
const MAX_BODY = 1 << 20;

/** What a server answered. */
export interface Answer {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body, where it is JSON and says so; else undefined. */
  readonly json: unknown;
  /** When the certificate ends, in milliseconds since 1970; null without one. */
  readonly certificateEnd: number | null;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a text goes as it is. */
  readonly body?: unknown;
}

/** Asks a server one thing, as a program would. */
export type Ask = (path: string, question?: Question) => Promise<Answer>;

/** No answer came. `code` is what the system or the library calls the reason. */
export class NoAnswer extends CtxdError {
  override readonly name = "NoAnswer";
  readonly code: string;

  constructor(code: string, cause?: unknown) {
    super(`no answer (${code})`, { cause });
    this.code = code;
  }
}

/**
 * Makes what asks the server of an origin; redirects are not followed. Not by fetch, which asks the
 * proxy that HTTP_PROXY names for this machine's own address too, and tells little of failures.
 * @param timeout milliseconds
 * @param anyCertificate whether one will do that is made out to another name, or by nobody known
 * @param socketPath a Unix socket on which the server is asked, whatever the origin
 */
export function createAsk(
  origin: string,
  {
    timeout = TIMEOUT,
    anyCertificate = false,
    socketPath,
  }: { timeout?: number; anyCertificate?: boolean; socketPath?: string } = {},
): Ask {
  return (path, { method = "GET", headers = {}, body } = {}) => {
    const url = new URL(path, origin);
    const { request } = url.protocol === "https:" ? https : http;
    const content = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const type = typeof body === "object" ? { "content-type": "application/json" } : {};
    const options = {
      method,
      headers: { ...type, ...headers },
      signal: AbortSignal.timeout(timeout),
      rejectUnauthorized: !anyCertificate,
      ...(socketPath !== undefined && { socketPath }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const call = request(url, options, (response) => {
      readAnswer(url, response).then(resolve, (error) => reject(toNoAnswer(error)));
    });
    call.once("error", (error) => reject(toNoAnswer(error)));
    call.end(content);
    return promise;
  };
}

async function readAnswer(url: URL, response: http.IncomingMessage): Promise<Answer> {
  const { socket, statusCode = 0 } = response;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const end = socket instanceof TLSSocket ? Date.parse(socket.getPeerCertificate().valid_to) : null;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BODY) throw new NoAnswer("an answer without end");
  }
  const text = Buffer.concat(chunks).toString();
  const isJson = /^application\/([\w.-]+\+)?json\b/i.test(headers.get("content-type") ?? "");
  return {
    url,
    status: statusCode,
    headers,
    text,
    json: isJson ? parse(text) : undefined,
    certificateEnd: end,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toNoAnswer(error: unknown): NoAnswer {
  if (error instanceof NoAnswer) return error;
  if (!(error instanceof Error)) return new NoAnswer(String(error));
  if (error.name === "TimeoutError" || error.name === "AbortError")
    return new NoAnswer("ETIMEDOUT");
  return new NoAnswer("code" in error ? String(error.code) : error.message, error);
}

/** What answered, where it was not what was asked for: for a sentence. */
export function describeAnswer({ status, headers, json }: Answer): string {
  const type = headers.get("content-type")?.split(";")[0] ?? "nothing";
  const { error } = (json ?? {}) as { error?: { code?: unknown } | string };
  const code = typeof error === "string" ? error : error?.code;
  return `${status}, ${typeof code === "string" ? code.slice(0, 40) : type}`;
}
