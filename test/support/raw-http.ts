import { connect } from "node:net";

export interface RawAnswer {
  /** 0 when the server closed the connection without an answer. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Sends a request on its own socket. The answer is read only on demand. */
export function openRaw(port: number, head: Uint8Array) {
  const socket = connect(port, "127.0.0.1");
  socket.write(head);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  const parts: Buffer[] = [];
  const begun = new Promise<void>((resolve) => {
    socket.on("data", (part) => {
      parts.push(part);
      resolve();
    });
  });
  return { socket, closed, begun, received: () => Buffer.concat(parts).toString() };
}

/**
 * Sends bytes over a socket of its own, and reads until the server has answered and closed or
 * `patience` milliseconds have gone by. For requests that no client library would send.
 */
export function sendRaw(
  port: number,
  bytes: string | Uint8Array,
  patience = 20_000,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1");
    const finish = () => {
      socket.destroy();
      resolve(parseAnswer(Buffer.concat(chunks)));
    };
    socket.setTimeout(patience, finish);
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("end", finish).on("close", finish).on("error", finish);
    socket.write(bytes);
  });
}

/** A request as text, with `Connection: close` so that the answer has an end. */
export function rawRequest(
  line: string,
  headers: Record<string, string> = {},
  body = "",
): Uint8Array {
  const fields = Object.entries({ host: "localhost", connection: "close", ...headers });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.from(`${line} HTTP/1.1\r\n${head}\r\n${body}`);
}

function parseAnswer(bytes: Buffer): RawAnswer {
  const end = bytes.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = bytes.subarray(0, Math.max(end, 0)).toString().split("\r\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const body = end < 0 ? "" : bytes.subarray(end + 4).toString();
  return { status: Number(statusLine.split(" ")[1] ?? 0), headers, body };
}
