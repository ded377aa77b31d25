import { createId } from "../../src/db/id.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { withSpaces } from "../../src/spaces/with-spaces.ts";
import { createRandom } from "../bench/random.ts";
import type { TestServer } from "../support/server.ts";
import { addPerson } from "../support/space-team.ts";
import type { SetMemory } from "./account.ts";

/** The own account and two spaces. */
const PLACES = 3;
const LIMIT = 20;

/** How memories are divided among the places. */
export type Divide = "together" | "by memory" | "by session";

/** A person with a set's memories, divided among the own account and spaces. */
export async function createMember(
  server: TestServer,
  memories: readonly SetMemory[],
  divide: Divide,
) {
  const person = await addPerson(server, "member");
  const spaces = [];
  for (let place = 1; place < PLACES; place++) {
    spaces.push(await server.spaces.create(person.accountId, `space ${place}`));
  }
  const places = ["personal", ...spaces.map(({ id }) => id)];
  const random = createRandom(1);
  const ofSession = new Map<string, number>();
  const placeOf = ({ session_id = "" }: SetMemory): number => {
    if (divide === "together") return 0;
    if (divide === "by memory") return random.between(0, PLACES - 1);
    const known = ofSession.get(session_id) ?? random.between(0, PLACES - 1);
    ofSession.set(session_id, known);
    return known;
  };
  const names = new Map<string, string>();
  const lines: string[][] = places.map(() => []);
  const inOrder = memories.toSorted((a, b) => Date.parse(a.said_at) - Date.parse(b.said_at));
  for (const { id: name, said_at, ...memory } of inOrder) {
    const id = createId("mem", Date.parse(said_at));
    names.set(id, name);
    const line = JSON.stringify({ id, ...memory, created_at: said_at });
    lines[placeOf({ id: name, said_at, ...memory })]?.push(`${line}\n`);
  }
  for (const [at, place] of places.entries()) {
    const { status } = await person.send("POST", `/memories/import?space=${place}`, {
      body: (lines[at] ?? []).join(""),
      headers: { "content-type": "application/x-ndjson" },
    });
    if (status !== 200) throw new Error(`the import failed with ${status}`);
  }
  const last = Math.max(...inOrder.map(({ said_at }) => Date.parse(said_at))) + 86_400_000;
  server.clock.advance(Math.max(0, last - server.clock()));
  const { search } = withSpaces(server.memories);
  const reach = { ...wholeAccount(person.accountId), spaces };
  return async (query: string): Promise<string[]> => {
    const asked = { query, limit: LIMIT, filter: {}, decay: false };
    const { memories: found } = await search(reach, asked);
    return found.map(({ id }) => names.get(id) ?? "");
  };
}
