import { afterAll, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ctxd } from "../support/command-line.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
const client = await server.account();
afterAll(() => server.close());

/** Runs a command against the server. The first answer to a change is lost on its way. */
async function run(...args: string[]) {
  const answers: number[] = [];
  const between = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await fetch(`${server.origin}${request.url}`, {
      method: request.method ?? "GET",
      headers: { authorization: `Bearer ${client.key}`, "content-type": "application/json" },
      body: chunks.length > 0 ? Buffer.concat(chunks) : null,
    });
    const text = await answer.text();
    if (request.method !== "GET" && answers.push(answer.status) === 1) request.socket.destroy();
    else response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  });
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
  const { port } = between.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const outcome = await ctxd([...args, "--yes", "--url", url], { input: `${client.key}\n` });
  between.close();
  return { ...outcome, answers };
}

const save = async (content: string, project: string) =>
  (await client.save({ content, project })).id;

test("a memory whose deletion was not confirmed is deleted, and counts as such", async () => {
  const ids = [await save("Red is nice", "colours"), await save("Blue is nice", "colours")];
  expect(await run("forget", ...ids)).toEqual({
    stdout: "",
    stderr: "Deleted: 2 memories.\n",
    exitCode: 0,
    answers: [200, 404, 200],
  });
  // Without a lost answer, a missing memory is an error.
  const { stderr, exitCode } = await run("forget", ...ids);
  expect({ stderr, exitCode }).toEqual({
    stderr: expect.stringContaining(`No memory with id ${ids[0]}`),
    exitCode: 1,
  });
});

test("no wrong number is printed when the answer with it is lost", async () => {
  await save("Tests run twice", "tools");
  const moved = await run("move", "--project", "tools", "--to", "kit");
  expect(moved).toMatchObject({ exitCode: 0, answers: [200, 200] });
  expect(moved.stderr).toBe(
    "Moved to the project kit: all of them; how many is unknown, because an answer was lost.\n",
  );
  const forgotten = await run("forget", "--project", "kit");
  expect(forgotten.stderr).toBe(
    "Deleted: all of them; how many is unknown, because an answer was lost.\n",
  );
  await save("Builds are signed", "kit");
  const asJson = await run("forget", "--project", "kit", "--json");
  expect(JSON.parse(asJson.stdout)).toEqual({ deleted: null });
  expect((await client.list()).memories).toEqual([]);
});
