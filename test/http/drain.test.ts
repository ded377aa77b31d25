import { expect, test } from "bun:test";
import { createDrain } from "../../src/http/drain.ts";

const request = new Request("http://localhost/");

test("streams end when the last request is answered, and not before", async () => {
  const drain = createDrain();
  const happened: string[] = [];
  drain.onEndStreams(() => happened.push("streams ended"));
  const answer = Promise.withResolvers<Response>();
  const first = drain.count(() => answer.promise)(request);
  const ended = drain.endStreams();
  await Promise.resolve();
  expect(happened).toEqual([]);
  answer.resolve(new Response());
  await Promise.all([first, ended]);
  expect(happened).toEqual(["streams ended"]);
});

test("a request that fails counts as answered", async () => {
  const drain = createDrain();
  const handle = drain.count(async () => {
    throw new Error("broken");
  });
  await expect(handle(request)).rejects.toThrow("broken");
  await drain.endStreams();
});

test("streams end at once where nothing is asked", async () => {
  const drain = createDrain();
  let ended = 0;
  drain.onEndStreams(async () => ended++);
  await drain.endStreams();
  expect(ended).toBe(1);
});
