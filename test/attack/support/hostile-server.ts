import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export type Answer = (response: ServerResponse, request: IncomingMessage) => unknown;

/** A server of an attacker. It counts the bytes that clients take. */
export async function startHostileServer() {
  const answers = new Map<string, Answer>();
  const asked: string[] = [];
  let sent = 0;
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    asked.push(path);
    response.on("error", () => {});
    const answer = answers.get(path) ?? answers.get("*");
    if (answer) answer(response, request);
    else response.writeHead(404).end();
    request.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const at = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;

  return {
    at,
    /** The paths of all requests. */
    asked,
    /** Bytes of all floods. */
    sent: () => sent,
    /** Answers a path from now on; `*` is any other path. */
    answer: (path: string, answer: Answer) => void answers.set(path, answer),
    reset() {
      answers.clear();
      asked.length = 0;
      sent = 0;
    },

    /** Sends a text before, a chunk again and again, `times` or until the client leaves, and a text after. */
    flood:
      (
        chunk: string | Buffer,
        { before = "", after = "", times = Number.POSITIVE_INFINITY } = {},
      ): Answer =>
      (response) => {
        if (!response.headersSent) response.writeHead(200, { "content-type": "application/json" });
        response.write(before);
        let left = times;
        const go = () => {
          while (left > 0 && !response.destroyed) {
            left--;
            sent += chunk.length;
            if (!response.write(chunk)) return void response.once("drain", go);
          }
          if (left === 0) response.end(after);
        };
        go();
      },

    /** Leads the client elsewhere. */
    redirect:
      (location: string): Answer =>
      (response) =>
        response.writeHead(302, { location }).end(),

    /** Sends a byte every few milliseconds until the client leaves. */
    drip: (): Answer => (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 5);
      response.on("close", () => clearInterval(timer));
    },

    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
