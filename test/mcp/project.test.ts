import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { program, stopServer } from "../support/bridge.ts";
import {
  AS_CONNECTOR,
  connectHttp,
  connectProgram,
  type McpClient,
  shownIn,
} from "../support/mcp.ts";
import { startServer } from "../support/server.ts";

// Some of these start a program, and that one a server, which loads the model.

const server = await startServer();
const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const dataDir = join(root, "data");
const open: McpClient[] = [];
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await server.close();
  await stopServer(dataDir);
  rmSync(root, { recursive: true });
});

function using(client: McpClient) {
  open.push(client);
  const all = async () =>
    shownIn(await client.call("list_memories", {})).map(({ id, content, facts }) => {
      const said = (name: string) =>
        facts.find((fact) => fact.startsWith(name))?.slice(name.length);
      return { id, content, project: said("project: "), sessionId: said("session: ") };
    });
  return {
    ...client,
    all,
    contents: async () => (await all()).map(({ content }) => content).sort(),
    async save(content: string, more: Record<string, unknown> = {}) {
      const { data, isError } = await client.call("save_memory", { content, ...more });
      expect(isError).toBe(false);
      return String(data.id);
    },
  };
}

describe("the header ctxd-project", () => {
  const { origin } = server;
  const connect = async (key: string, headers: Record<string, string>) =>
    using(await connectHttp("v2 new", origin, { authorization: `Bearer ${key}`, ...headers }));

  test("is the project of what is saved, and of what is found", async () => {
    const { key } = await server.account();
    const [atlas, boreas, plain] = await Promise.all([
      connect(key, { "ctxd-project": encodeURIComponent("Öl/Atlas") }),
      connect(key, { "ctxd-project": "boreas", ...AS_CONNECTOR }),
      connect(key, {}),
    ]);
    await atlas.save("the lighthouse of atlas");
    await atlas.save("the lighthouse of all", { project: null });
    await boreas.save("the lighthouse of boreas");
    await boreas.save("the lighthouse of boreas for atlas", { project: "Öl/Atlas" });

    const ofAtlas = ["the lighthouse of all", "the lighthouse of atlas"];
    const forAtlas = "the lighthouse of boreas for atlas";
    expect(await atlas.contents()).toEqual([...ofAtlas, forAtlas].sort());
    expect(await boreas.contents()).toEqual(["the lighthouse of all", "the lighthouse of boreas"]);
    expect(await plain.contents()).toHaveLength(4);
    for (const tool of ["search_memories", "search"]) {
      const { text } = await boreas.call(tool, { query: "lighthouse" });
      expect(text).toContain("the lighthouse of boreas");
      expect(text).not.toContain("atlas");
    }
    const context = await boreas.prompt("load_context", { task: "find the lighthouse" });
    expect(JSON.stringify(context)).not.toContain("atlas");
    expect(JSON.stringify(await boreas.resources())).not.toContain("atlas");
    expect(JSON.stringify(await boreas.read("memory://recent"))).not.toContain("atlas");
  });

  test("is refused where it can't be read", async () => {
    const { key } = await server.account();
    for (const project of ["%ff", "x".repeat(129)]) {
      const answer = await fetch(`${origin}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          "ctxd-project": project,
        },
        body: "{}",
      });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain("ctxd-project");
    }
  });
});

describe("an agent on this machine", () => {
  const connect = async (folder: string, ...args: string[]) =>
    using(
      await connectProgram("v1", { ...program(dataDir, "mcp", ...args), cwd: join(root, folder) }),
    );

  const repository = (folder: string, config: string) => {
    mkdirSync(join(root, folder, ".git"), { recursive: true });
    mkdirSync(join(root, folder, "src"));
    writeFileSync(join(root, folder, ".git", "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(root, folder, ".git", "config"), config);
  };

  test("works on the project of its folder, and each of its runs is a session", async () => {
    repository("shop", '[remote "origin"]\n\turl = git@git.example.com:acme/shop.git\n');
    repository("notes", "[core]\n\tbare = false\n");
    mkdirSync(join(root, "elsewhere"));

    const shop = await connect("shop/src");
    await shop.save("of the shop");
    await shop.save("also of the shop");
    await using(await connect("shop")).save("by another run");
    const notes = await connect("notes");
    await notes.save("of the notes");
    const elsewhere = await connect("elsewhere");
    await elsewhere.save("of no project");

    const all = await elsewhere.all();
    const projects = Object.fromEntries(all.map(({ content, project }) => [content, project]));
    expect(projects).toEqual({
      "of the shop": "acme/shop",
      "also of the shop": "acme/shop",
      "by another run": "acme/shop",
      "of the notes": "notes",
      "of no project": undefined,
    });
    const sessions = new Map(all.map(({ content, sessionId }) => [content, sessionId]));
    expect(sessions.get("of the shop")).toMatch(/^session_[0-9a-f]{32}$/);
    expect(sessions.get("also of the shop")).toBe(sessions.get("of the shop"));
    expect(new Set(sessions.values()).size).toBe(4);
    expect(await shop.contents()).not.toContain("of the notes");
    expect(await notes.contents()).toEqual(["of no project", "of the notes"]);
  });

  test("can be kept to a project, with the memories of none or without them", async () => {
    mkdirSync(join(root, "free"), { recursive: true });
    const free = await connect("free");
    const other = await free.save("kept elsewhere", { project: "boreas" });
    const own = await free.save("kept for all", { project: null });

    const kept = await connect("free", "--project", "atlas, the ship");
    await kept.save("kept in atlas");
    expect(await kept.contents()).toContain("kept for all");
    expect(await kept.contents()).toContain("kept in atlas");
    expect(await kept.contents()).not.toContain("kept elsewhere");
    expect((await kept.call("get_memory", { id: other })).isError).toBe(true);
    expect((await kept.call("delete_memory", { id: own })).isError).toBe(true);
    const elsewhere = await kept.call("save_memory", { content: "x", project: "boreas" });
    expect(elsewhere.isError).toBe(true);

    const only = await connect("free", "--project", "atlas, the ship", "--project-only");
    expect(await only.contents()).toEqual(["kept in atlas"]);
    expect((await only.call("get_memory", { id: own })).isError).toBe(true);
  });
});
