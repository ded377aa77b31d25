import { expect, test } from "bun:test";
import { createPagedStream } from "../../src/http/responses.ts";

async function* count(onEnd: () => void = () => {}) {
  try {
    for (let page = 0; ; page++) yield page;
  } finally {
    onEnd();
  }
}
const encode = (page: number) => Buffer.alloc(65_536, page);

test("a client that never reads receives a few pages and is disconnected; the other pages are never created", async () => {
  let made = 0;
  const ended = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    fetch: () =>
      new Response(
        createPagedStream(
          count(ended.resolve),
          (page) => {
            made = page;
            return encode(page);
          },
          300,
        ),
      ),
  });
  const closed = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname: "localhost",
    port: server.port ?? 0,
    socket: { data() {}, close: () => closed.resolve() },
  });
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await ended.promise;
  expect(made).toBeLessThan(1_000);
  socket.resume();
  await closed.promise;
  await server.stop(true);
});

test("cancelling ends the creation of pages", async () => {
  const ended = Promise.withResolvers<void>();
  const reader = createPagedStream(count(ended.resolve), encode).getReader();
  expect((await reader.read()).value?.[0]).toBe(0);
  expect((await reader.read()).value?.[0]).toBe(1);
  await reader.cancel();
  await ended.promise;
});
