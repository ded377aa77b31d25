import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Space } from "../../src/accounts/space.ts";
import { inSpace, wholeAccount } from "../../src/keys/reach.ts";
import { moveIntoSpace, movingFilter } from "../../src/spaces/moving.ts";
import { outcomeOf } from "../support/outcome.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { addPerson, join } from "../support/space-team.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const PROJECT = "acme/web";

/** A person with a space, whom `move` moves. `memories` are those of the server, or a stand-in that fails. */
async function person() {
  const { accountId } = await addPerson(server, "ann");
  const space = await server.spaces.create(accountId, "acme");
  const own = wholeAccount(accountId);
  const move = (memories: Parameters<typeof moveIntoSpace>[0] = server.memories, to = space) =>
    moveIntoSpace(memories, own, to, {
      project: PROJECT,
      source: { via: "dashboard", by: "ann@example.com", id: accountId },
      stillAllowed: async () => {},
    });
  return { accountId, space, own, move };
}

type Person = Awaited<ReturnType<typeof person>>;

/** Single memories, a history of three versions whose oldest is of another project, and what must stay. */
async function save({ own }: Pick<Person, "own">) {
  const saved = await server.memories.saveAll(own, [
    { content: "The deploy is on Tuesdays.", project: PROJECT, tags: ["ops"], importance: 0.9 },
    { content: "Never force-push.", project: PROJECT, pinned: true, metadata: { from: "review" } },
    {
      ...{ content: "The freeze ends soon.", project: PROJECT, agent_id: "planner" },
      ...{ session_id: "s-1", expires_at: "2031-01-01T00:00:00.000Z" },
    },
    { content: "The port is 1." },
    { content: "Something personal." },
  ]);
  const first = saved[3]?.id ?? "";
  const { memory: second } = await server.memories.save(own, {
    ...{ content: "The port is 2.", project: PROJECT, supersedes: first },
  });
  await server.memories.save(own, {
    ...{ content: "The port is 3.", project: PROJECT, supersedes: second.id },
  });
}

async function all(reach: Parameters<TestServer["memories"]["export"]>[0]) {
  const pages = await Array.fromAsync(await server.memories.export(reach, {}));
  return pages.flat();
}

/** What must be the same after a move. */
const lasting = (list: Awaited<ReturnType<typeof all>>) =>
  list.map(({ source: _, space: __, ...memory }) => memory);

const inTarget = (own: Person["own"], space: Space) => inSpace(own, space);

test("a project's memories move with their ids, times, fields and histories", async () => {
  const { own, space, move } = await person();
  await save({ own });
  const before = await all(own);
  expect(await move()).toEqual({ moved: 6, kept: 0 });
  const stays = before.filter(({ content }) => content === "Something personal.");
  expect(await all(own)).toEqual(stays);
  const moved = await all(inTarget(own, space));
  expect(lasting(moved)).toEqual(lasting(before.filter((each) => !stays.includes(each))));
  expect(moved.map(({ source }) => source?.by)).toEqual(moved.map(() => "ann@example.com"));
  const newest = moved.find(({ content }) => content === "The port is 3.");
  const { memories: history } = await server.memories.history(
    ...([inTarget(own, space), newest?.id ?? "", { limit: 10 }] as const),
  );
  expect(history.map(({ content }) => content)).toEqual([
    ...["The port is 3.", "The port is 2.", "The port is 1."],
  ]);
  expect(await move()).toEqual({ moved: 0, kept: 0 });
});

test.each([1, 2, 3, 4])(
  "a move that stops after %d deletions loses nothing, and moving again finishes",
  async (limit) => {
    const { own, space, move } = await person();
    await save({ own });
    const before = lasting(await all(own));
    let deletions = 0;
    const failing: Parameters<typeof moveIntoSpace>[0] = {
      ...server.memories,
      async remove(...call) {
        if (++deletions > limit) throw new Error("the machine went down");
        return await server.memories.remove(...call);
      },
    };
    const isWhole = limit >= 4;
    if (isWhole) expect(await move(failing)).toMatchObject({ moved: 6 });
    else expect(await outcomeOf(move(failing))).toThrow("the machine went down");
    const there = inTarget(own, space);
    const known = new Set([...(await all(own)), ...(await all(there))].map(({ id }) => id));
    expect([...known].sort()).toEqual(before.map(({ id }) => id).sort());

    expect((await move()).kept).toBe(0);
    expect((await all(own)).map(({ content }) => content)).toEqual(["Something personal."]);
    expect(lasting(await all(there))).toEqual(
      before.filter(({ content }) => content !== "Something personal."),
    );
  },
);

test("a move that stops while it copies deletes nothing", async () => {
  const { own, space, move } = await person();
  await save({ own });
  const before = await all(own);
  expect(
    await outcomeOf(
      move({ ...server.memories, import: () => Promise.reject(new Error("the disk is full")) }),
    ),
  ).toThrow("the disk is full");
  expect(await all(own)).toEqual(before);
  expect(await all(inTarget(own, space))).toEqual([]);
});

test("what changes during the move stays, and moves the next time", async () => {
  const { own, space, move } = await person();
  const [memory] = await server.memories.saveAll(own, [{ content: "Old.", project: PROJECT }]);
  const id = memory?.id ?? "";
  const meanwhile: Parameters<typeof moveIntoSpace>[0] = {
    ...server.memories,
    async byIds(...call) {
      server.clock.advance(1);
      await server.memories.update(own, id, { content: "New." });
      return await server.memories.byIds(...call);
    },
  };
  expect(await move(meanwhile)).toEqual({ moved: 0, kept: 1 });
  expect(await all(own)).toMatchObject([{ id, content: "New." }]);
  expect(await move()).toEqual({ moved: 1, kept: 0 });
  expect(await all(inTarget(own, space))).toMatchObject([{ id, content: "New." }]);
});

test("a version that the space has changed since is not lost, and neither is the person's", async () => {
  const { own, space, move } = await person();
  const [memory] = await server.memories.saveAll(own, [{ content: "Mine.", project: PROJECT }]);
  const id = memory?.id ?? "";
  const stopped = { ...server.memories, remove: () => Promise.reject(new Error("down")) };
  expect(await outcomeOf(move(stopped))).toThrow("down");
  server.clock.advance(1);
  await server.memories.update(inTarget(own, space), id, { content: "Theirs." });
  expect(await move()).toEqual({ moved: 0, kept: 1 });
  expect(await all(own)).toMatchObject([{ content: "Mine." }]);
  expect(await all(inTarget(own, space))).toMatchObject([{ content: "Theirs." }]);
});

test("captured turns stay personal, and a reader can't move", async () => {
  const { own, space, move } = await person();
  const captured = { via: "capture", by: "laptop", id: "key_1" } as const;
  await server.memories.saveAll(own, [{ content: "What Sam said.", project: PROJECT }], {
    source: captured,
  });
  expect(await server.memories.count(own, movingFilter(PROJECT))).toBe(0);
  expect(await move()).toEqual({ moved: 0, kept: 0 });
  const bob = await addPerson(server, "bob");
  await join(server, space, bob, "read");
  const asReader: Space = { ...space, role: "read" };
  expect(await outcomeOf(move(server.memories, asReader))).toThrow("You may read");
});
