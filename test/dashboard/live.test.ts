import { expect, test } from "bun:test";
import { connect } from "node:net";
import { createLive } from "../../src/dashboard/live.ts";
import { createDrain } from "../../src/http/drain.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import type { Person } from "../oauth/support/person.ts";
import { until } from "../support/until.ts";

const signedIn = async () => {};
const here = new AbortController().signal;

/** A hub whose accounts are at positions that a test sets, and how often it has looked at each. */
function start(options: Partial<Parameters<typeof createLive>[0]> = {}) {
  const at = new Map<string, number>();
  const looks: string[] = [];
  const live = createLive({
    positions: {
      async memories(accountId) {
        looks.push(accountId);
        return at.get(accountId) ?? 0;
      },
      activity: async () => 0,
    },
    every: 5,
    ...options,
  });
  return { live, at, looks };
}

/** The messages of a stream, as they come. */
function read(stream: ReadableStream<Uint8Array> | null) {
  if (stream === null) throw new Error("there is no stream");
  const reader = stream.pipeThrough(new TextDecoderStream() as never).getReader();
  const messages: string[] = [];
  const ended = (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      messages.push(...`${part.value}`.split("\n\n").filter(Boolean));
    }
  })();
  return { messages, ended, cancel: () => reader.cancel() };
}

test("who follows an account hears at once where it is, of each change, and of no other account", async () => {
  const { live, at, looks } = start();
  const options = { stillSignedIn: signedIn, gone: here };
  const [one, other] = ["a", "b"].map((id) => read(live.open(id, "memories", options)));
  if (!one || !other) throw new Error("there are no streams");
  await until("both know where they are", () => one.messages.length + other.messages.length === 2);
  const position = await live.positionOf("memories", "a");
  expect(one.messages).toEqual([`event: memories\ndata: ${position}`]);
  at.set("a", 1);
  await until("a has changed", () => one.messages.length === 2);
  expect(one.messages[1]).not.toBe(one.messages[0]);
  const seen = looks.length;
  await until("it has looked again", () => looks.length > seen + 4);
  expect(one.messages.length).toBe(2);
  expect(other.messages.length).toBe(1);
  live.close();
  await Promise.all([one.ended, other.ended]);
  expect(live.open("a", "memories", options)).toBeNull();
});

test("what nobody follows is not looked at", async () => {
  const { live, looks } = start();
  const gone = new AbortController();
  const options = { stillSignedIn: signedIn, gone: gone.signal };
  const left = read(live.open("a", "memories", options));
  const closed = read(live.open("b", "memories", options));
  const stays = read(live.open("c", "activity", options));
  await until("it looks", () => looks.includes("a") && looks.includes("b"));
  await closed.cancel();
  expect(live.size()).toBe(2);
  gone.abort();
  await Promise.all([left.ended, stays.ended]);
  expect(live.size()).toBe(0);
  const seen = looks.length;
  await Bun.sleep(50);
  expect(looks.length - seen).toBeLessThanOrEqual(1);
});

test("a stream beats, ends after a while, and when the session has ended before anything is told", async () => {
  const { live } = start({ beat: 10, lifetime: 200 });
  const beating = read(live.open("a", "memories", { stillSignedIn: signedIn, gone: here }));
  await beating.ended;
  expect(beating.messages.length).toBeGreaterThan(1);
  expect(new Set(beating.messages).size).toBe(1);

  const { live: another, at } = start();
  let isSignedIn = true;
  const stillSignedIn = async () => {
    if (!isSignedIn) throw new Error("signed out");
  };
  const followed = read(another.open("a", "memories", { stillSignedIn, gone: here }));
  await until("it has begun", () => followed.messages.length === 1);
  isSignedIn = false;
  at.set("a", 1);
  await followed.ended;
  expect(followed.messages.length).toBe(1);
});

test("an account has so many streams, a failure of the database ends none, and one who never reads costs little", async () => {
  let isBroken = false;
  let looks = 0;
  const { live } = start({
    beat: 0,
    positions: {
      async memories() {
        looks++;
        if (isBroken) throw new Error("the database is away");
        return looks;
      },
      activity: async () => 0,
    },
  });
  const options = { stillSignedIn: signedIn, gone: here };
  const open = () => live.open("a", "memories", options);
  const streams = Array.from({ length: 20 }, open);
  expect(streams).not.toContain(null);
  expect(open()).toBeNull();
  const looked = () => looks > 100;
  await until("there were many changes", looked);
  const [unread = null] = streams;
  isBroken = true;
  const seen = looks;
  await until("it was tried again", () => looks > seen + 3);
  expect(live.size()).toBe(20);
  live.close();
  const rest = read(unread);
  await rest.ended;
  expect(rest.messages.length).toBeLessThanOrEqual(4);
});

test("who leaves is noticed, and who never reads is let go in the end", async () => {
  const { live } = start({ beat: 0, lifetime: 500 });
  const options = { stillSignedIn: signedIn };
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ signal: gone }) => new Response(live.open("a", "memories", { ...options, gone })),
  });
  const leaving = new AbortController();
  const response = await fetch(server.url, { signal: leaving.signal });
  expect(live.size()).toBe(1);
  leaving.abort();
  await response.text().catch(() => {});
  await until("it has left", () => live.size() === 0);

  const socket = connect(server.port ?? 0, "127.0.0.1");
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await until("it is there", () => live.size() === 1);
  await until("it is let go", () => live.size() === 0);
  socket.destroy();
});

test("a stream ends in time though nothing can be read", async () => {
  let looks = 0;
  const positions = {
    async memories() {
      if (looks++ > 0) throw new Error("the database is away");
      return 0;
    },
    activity: async () => 0,
  };
  const { live } = start({ positions, lifetime: 50 });
  const followed = read(live.open("a", "memories", { stillSignedIn: signedIn, gone: here }));
  await followed.ended;
  expect(followed.messages.length).toBe(1);
  expect(live.size()).toBe(0);
});

test("who leaves while the session is looked up, or cancels, leaves nothing behind", async () => {
  const { live } = start();
  const left = live.open("a", "memories", {
    stillSignedIn: signedIn,
    gone: AbortSignal.abort(),
  });
  expect(live.size()).toBe(0);
  await read(left).ended;
  const stream = live.open("a", "memories", { stillSignedIn: signedIn, gone: here });
  expect(live.size()).toBe(1);
  await stream?.cancel();
  expect(live.size()).toBe(0);
});

/** Opens the stream of a person's session. */
async function follow(origin: string, person: Person, topic = "memories") {
  const cookie = `ctxd-session=${person.jar.get("ctxd-session")}`;
  const response = await fetch(`${origin}/events?of=${topic}`, {
    headers: { cookie },
    redirect: "manual",
  });
  return { response, ...read(response.body) };
}

test("a page of a session hears of what agents save and search", async () => {
  await using server = await startOAuthServer();
  const { accountId, person } = await server.signedIn();
  const client = await server.client(accountId);
  const [ofMemories, ofActivity] = await Promise.all([
    follow(server.origin, person),
    follow(server.origin, person, "activity"),
  ]);
  const { headers } = ofMemories.response;
  expect(headers.get("content-type")).toBe("text/event-stream");
  expect(headers.get("cache-control")).toBe("no-store, no-transform");
  expect(headers.get("x-accel-buffering")).toBe("no");
  await until("it has begun", () => ofMemories.messages.length > 0);
  const { id } = await client.save({ content: "Deploys on Friday" });
  await until("the memory is told of", () => ofMemories.messages.length > 1);
  await client.remove(id);
  await until("the deletion is told of", () => ofMemories.messages.length > 2);
  await server.activity.flush();
  await until("the activity is told of", () => ofActivity.messages.length > 1);

  const other = await server.signedIn();
  const ofOther = await follow(server.origin, other.person);
  await client.save({ content: "Prefers tabs" });
  await until("that is told of", () => ofMemories.messages.length > 3);
  expect(ofOther.messages.length).toBeLessThanOrEqual(1);
  await Promise.all([ofMemories, ofActivity, ofOther].map(({ cancel }) => cancel()));
});

test("it ends with the session, and nobody else gets in", async () => {
  await using server = await startOAuthServer();
  const { accountId, person } = await server.signedIn();
  const client = await server.client(accountId);
  const stream = await follow(server.origin, person);
  await until("it has begun", () => stream.messages.length > 0);
  await server.sessions.revokeAll(accountId);
  await client.save({ content: "after the end" });
  await stream.ended;
  expect(stream.messages.length).toBe(1);

  expect((await follow(server.origin, person)).response.status).toBe(303);
  const withKey = await fetch(`${server.origin}/events?of=memories`, {
    headers: { authorization: `Bearer ${client.key}` },
    redirect: "manual",
  });
  expect(withKey.status).toBe(303);
  const { person: another } = await server.signedIn();
  expect((await follow(server.origin, another, "keys")).response.status).toBe(422);
});

test("a server that is to stop ends it, and begins none", async () => {
  const drain = createDrain();
  await using server = await startOAuthServer({ drain });
  const { person } = await server.signedIn();
  const stream = await follow(server.origin, person);
  await until("it has begun", () => stream.messages.length > 0);
  drain.begin();
  await stream.ended;
  expect((await follow(server.origin, person)).response.status).toBe(503);
});
