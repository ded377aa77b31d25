import http from "node:http";
import https from "node:https";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { CtxdError, errorCode } from "../errors.ts";
import { reachSocketFolder, SOCKET } from "../system/folders.ts";
import { parsed } from "../text/parse-json.ts";

/** Milliseconds that a request may take. */
const TIMEOUT_MS = 10_000;
/** Milliseconds that a request on this machine may take. */
export const LOCAL_TIMEOUT_MS = 5_000;
/** Maximum bytes of an answer. ctxd sends no larger ones to these requests. */
const MAX_BODY = 1 << 20;

/** The answer of a server. */
export type Answer = Awaited<ReturnType<typeof readAnswer>>;

interface RequestParts {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown;
}

/** Sends a request to a server. @throws NoAnswer */
export type Send = (path: string, parts?: RequestParts) => Promise<Answer>;

/** A server did not answer. `code` is the reason by the system or the library. */
export class NoAnswer extends CtxdError {
  readonly code: string;

  constructor(code: string, cause?: unknown) {
    super(`no answer (${code})`, { cause });
    this.code = code;
  }
}

/**
 * Returns a function that sends requests to an origin, without following redirects. `fetch` is not used: it
 * would use the proxy of HTTP_PROXY even for this machine, and its errors contain few details.
 * @param timeout milliseconds
 * @param anyCertificate whether to accept a certificate for another name or of an unknown authority
 * @param socketPath a Unix socket that requests are sent to, instead of the origin
 */
export function createSend(
  origin: string,
  {
    timeout = TIMEOUT_MS,
    anyCertificate = false,
    socketPath,
  }: { timeout?: number; anyCertificate?: boolean; socketPath?: string } = {},
): Send {
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

/** Sends requests to the server of a data folder over its socket, which needs no open port. */
export function sendLocally(dataDir: string): Send {
  return async (path, parts) => {
    const reach = reachSocketFolder(dataDir);
    try {
      const options = { timeout: LOCAL_TIMEOUT_MS, socketPath: join(reach.path, SOCKET) };
      return await createSend("http://localhost", options)(path, parts);
    } finally {
      reach.release();
    }
  };
}

async function readAnswer(url: URL, response: http.IncomingMessage) {
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
    if (size > MAX_BODY) throw new NoAnswer("the answer is too large");
  }
  const text = Buffer.concat(chunks).toString();
  const isJson = /^application\/([\w.-]+\+)?json\b/i.test(headers.get("content-type") ?? "");
  return {
    url,
    status: statusCode,
    headers,
    text,
    /** The parsed body, if the content type is JSON; otherwise undefined. */
    json: isJson ? parsed(text) : undefined,
    /** Expiry of the certificate, in milliseconds since 1970; null without one. */
    certificateEnd: end,
  };
}

function toNoAnswer(error: unknown): NoAnswer {
  if (error instanceof NoAnswer) return error;
  if (!(error instanceof Error)) return new NoAnswer(String(error));
  if (error.name === "TimeoutError" || error.name === "AbortError")
    return new NoAnswer("ETIMEDOUT");
  return new NoAnswer(errorCode(error) || error.message, error);
}

/** Describes an unexpected answer, for use in a sentence. */
export function describeAnswer({ status, headers, json }: Answer): string {
  const type = headers.get("content-type")?.split(";")[0] ?? "nothing";
  const { error } = (json ?? {}) as { error?: { code?: unknown } | string };
  const code = typeof error === "string" ? error : error?.code;
  return `${status}, ${typeof code === "string" ? code.slice(0, 40) : type}`;
}
