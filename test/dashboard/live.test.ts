import { expect, test } from "bun:test";
import { connect } from "node:net";
import { createLive } from "../../src/dashboard/live/live.ts";
import { createDrain } from "../../src/http/load/drain.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import type { Person } from "../oauth/support/person.ts";
import { until } from "../support/until.ts";

const signedIn = async () => {};
const here = new AbortController().signal;

/** Live updates with positions that the test sets, and a list of all checks of accounts. */
function start(options: Partial<Parameters<typeof createLive>[0]> = {}) {
  const at = new Map<string, number>();
  const checks: string[] = [];
  const live = createLive({
    positions: {
      async memories(accountId) {
        checks.push(accountId);
        return at.get(accountId) ?? 0;
      },
      activity: async () => 0,
    },
    checkIntervalMs: 5,
    ...options,
  });
  return { live, at, checks };
}

/** Collects the events of a stream. */
function read(stream: ReadableStream<Uint8Array> | null) {
  if (stream === null) throw new Error("no stream was opened");
  const reader = stream.pipeThrough(new TextDecoderStream() as never).getReader();
  const messages: string[] = [];
  const ended = (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      messages.push(...`${part.value}`.split("\n\n").filter(Boolean));
    }
  })();
  return { messages, ended, cancel: () => reader.cancel() };
}

test("a stream sends the position at once and after each change, but not for other accounts", async () => {
  const { live, at, checks } = start();
  const options = { stillSignedIn: signedIn, signal: here };
  const [one, other] = ["a", "b"].map((id) =>
    read(live.open(wholeAccount(id), "memories", options)),
  );
  if (!one || !other) throw new Error("no streams were opened");
  await until(
    "both have the first position",
    () => one.messages.length + other.messages.length === 2,
  );
  const position = await live.positionOf("memories", "a");
  expect(one.messages).toEqual([`event: memories\ndata: ${position}`]);
  at.set("a", 1);
  await until("the change is sent", () => one.messages.length === 2);
  expect(one.messages[1]).not.toBe(one.messages[0]);
  const seen = checks.length;
  await until("there were more checks", () => checks.length > seen + 4);
  expect(one.messages.length).toBe(2);
  expect(other.messages.length).toBe(1);
  live.close();
  await Promise.all([one.ended, other.ended]);
  expect(live.open(wholeAccount("a"), "memories", options)).toBeNull();
});

test("accounts without streams are not checked", async () => {
  const { live, checks } = start();
  const client = new AbortController();
  const options = { stillSignedIn: signedIn, signal: client.signal };
  const disconnected = read(live.open(wholeAccount("a"), "memories", options));
  const cancelled = read(live.open(wholeAccount("b"), "memories", options));
  const other = read(live.open(wholeAccount("c"), "activity", options));
  await until("both are checked", () => checks.includes("a") && checks.includes("b"));
  await cancelled.cancel();
  expect(live.size()).toBe(2);
  client.abort();
  await Promise.all([disconnected.ended, other.ended]);
  expect(live.size()).toBe(0);
  const seen = checks.length;
  // Ten intervals: enough to show that nothing is checked any more.
  await Bun.sleep(50);
  expect(checks.length - seen).toBeLessThanOrEqual(1);
});

test("a stream repeats its position, ends after its lifetime, and ends with the session before sending more", async () => {
  const { live } = start({ heartbeatMs: 10, lifetimeMs: 200 });
  const quiet = read(
    live.open(wholeAccount("a"), "memories", { stillSignedIn: signedIn, signal: here }),
  );
  await quiet.ended;
  expect(quiet.messages.length).toBeGreaterThan(1);
  expect(new Set(quiet.messages).size).toBe(1);

  const { live: another, at } = start();
  let isSignedIn = true;
  const stillSignedIn = async () => {
    if (!isSignedIn) throw new Error("signed out");
  };
  const followed = read(
    another.open(wholeAccount("a"), "memories", { stillSignedIn, signal: here }),
  );
  await until("the stream has begun", () => followed.messages.length === 1);
  isSignedIn = false;
  at.set("a", 1);
  await followed.ended;
  expect(followed.messages.length).toBe(1);
});

test("an account has at most 20 streams, database failures end none, and an unread stream holds few events", async () => {
  let isBroken = false;
  let checks = 0;
  const { live } = start({
    heartbeatMs: 0,
    positions: {
      async memories() {
        checks++;
        if (isBroken) throw new Error("the database does not answer");
        return checks;
      },
      activity: async () => 0,
    },
  });
  const options = { stillSignedIn: signedIn, signal: here };
  const open = () => live.open(wholeAccount("a"), "memories", options);
  const streams = Array.from({ length: 20 }, open);
  expect(streams).not.toContain(null);
  expect(open()).toBeNull();
  await until("there were many changes", () => checks > 100);
  const [unread = null] = streams;
  isBroken = true;
  const seen = checks;
  await until("the check was repeated", () => checks > seen + 3);
  expect(live.size()).toBe(20);
  live.close();
  const rest = read(unread);
  await rest.ended;
  expect(rest.messages.length).toBeLessThanOrEqual(4);
});

test("a stream ends when the client disconnects, and after its lifetime if the client never reads", async () => {
  const { live } = start({ heartbeatMs: 0, lifetimeMs: 500 });
  const options = { stillSignedIn: signedIn };
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ signal }) =>
      new Response(live.open(wholeAccount("a"), "memories", { ...options, signal })),
  });
  const leaving = new AbortController();
  const response = await fetch(server.url, { signal: leaving.signal });
  expect(live.size()).toBe(1);
  leaving.abort();
  await response.text().catch(() => {});
  await until("the stream has ended", () => live.size() === 0);

  const socket = connect(server.port ?? 0, "127.0.0.1");
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await until("the stream is open", () => live.size() === 1);
  await until("the stream has ended", () => live.size() === 0);
  socket.destroy();
});

test("a stream ends after its lifetime even if the database does not answer", async () => {
  let checks = 0;
  const positions = {
    async memories() {
      if (checks++ > 0) throw new Error("the database does not answer");
      return 0;
    },
    activity: async () => 0,
  };
  const { live } = start({ positions, lifetimeMs: 50 });
  const followed = read(
    live.open(wholeAccount("a"), "memories", { stillSignedIn: signedIn, signal: here }),
  );
  await followed.ended;
  expect(followed.messages.length).toBe(1);
  expect(live.size()).toBe(0);
});

test("a client that disconnects before the stream starts, or cancels it, leaves no stream open", async () => {
  const { live } = start();
  const disconnected = live.open(wholeAccount("a"), "memories", {
    stillSignedIn: signedIn,
    signal: AbortSignal.abort(),
  });
  expect(live.size()).toBe(0);
  await read(disconnected).ended;
  const stream = live.open(wholeAccount("a"), "memories", {
    stillSignedIn: signedIn,
    signal: here,
  });
  expect(live.size()).toBe(1);
  await stream?.cancel();
  expect(live.size()).toBe(0);
});

/** Opens a stream with a person's session. */
async function follow(origin: string, person: Person, topic = "memories") {
  const cookie = `ctxd-session=${person.jar.get("ctxd-session")}`;
  const response = await fetch(`${origin}/events?of=${topic}`, {
    headers: { cookie },
    redirect: "manual",
  });
  return { response, ...read(response.body) };
}

test("a page receives an event when an agent saves, deletes or searches", async () => {
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
  await until("the stream has begun", () => ofMemories.messages.length > 0);
  const { id } = await client.save({ content: "Deploys on Friday" });
  await until("the save is sent", () => ofMemories.messages.length > 1);
  await client.remove(id);
  await until("the deletion is sent", () => ofMemories.messages.length > 2);
  await server.activity.flush();
  await until("the activity is sent", () => ofActivity.messages.length > 1);

  const other = await server.signedIn();
  const ofOther = await follow(server.origin, other.person);
  await client.save({ content: "Prefers tabs" });
  await until("the second save is sent", () => ofMemories.messages.length > 3);
  expect(ofOther.messages.length).toBeLessThanOrEqual(1);
  await Promise.all([ofMemories, ofActivity, ofOther].map(({ cancel }) => cancel()));
});

test("a stream ends with its session; keys and unknown topics are refused", async () => {
  await using server = await startOAuthServer();
  const { accountId, person } = await server.signedIn();
  const client = await server.client(accountId);
  const stream = await follow(server.origin, person);
  await until("the stream has begun", () => stream.messages.length > 0);
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

test("a stopping server ends its streams and refuses new ones", async () => {
  const drain = createDrain();
  await using server = await startOAuthServer({ drain });
  const { person } = await server.signedIn();
  const stream = await follow(server.origin, person);
  await until("the stream has begun", () => stream.messages.length > 0);
  drain.begin();
  await stream.ended;
  expect((await follow(server.origin, person)).response.status).toBe(503);
});
