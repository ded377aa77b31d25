import { expect } from "bun:test";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { FoundMemory } from "../../src/memories/model/found-memory.ts";
import { Memory, type NewMemory } from "../../src/memories/model/memory.ts";

/** What the server answered, its body parsed. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface Sending {
  readonly json?: unknown;
  readonly body?: string | Uint8Array | ReadableStream;
  readonly headers?: Record<string, string>;
}

type Query = Record<string, string | number>;

const Memories = Type.Object({ memories: Type.Array(Memory) });
const Found = Type.Object({ memories: Type.Array(FoundMemory) });
const Page = Type.Object({
  memories: Type.Array(Memory),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});
const DeletedMany = Type.Object({ deleted: Type.Integer() });

export type Client = ReturnType<typeof createClient>;

/**
 * Speaks to a server as one account. Calls named by what they do expect success and a body of the
 * published shape; `send` takes whatever comes.
 */
export function createClient(origin: string, key: string) {
  const send = async (method: string, path: string, sending: Sending = {}): Promise<Answer> => {
    const { json, body } = sending;
    const headers = new Headers({ authorization: `Bearer ${key}` });
    if (json !== undefined) headers.set("content-type", "application/json");
    for (const [name, value] of Object.entries(sending.headers ?? {})) headers.set(name, value);
    const response = await fetch(`${origin}/api${path}`, {
      method,
      headers,
      body: json === undefined ? (body ?? null) : JSON.stringify(json),
      redirect: "manual",
    });
    return {
      status: response.status,
      headers: response.headers,
      body: method === "HEAD" ? await response.text() : await response.json(),
    };
  };

  return {
    key,
    send,
    /** Saves a memory. */
    save: async (memory: NewMemory, headers: Record<string, string> = {}) =>
      shaped(Memory, 201, await send("POST", "/memories", { json: memory, headers })),
    saveAll: async (memories: readonly NewMemory[]) =>
      shaped(Memories, 201, await send("POST", "/memories/batch", { json: { memories } })).memories,
    search: async (q: string, query: Query = {}) =>
      shaped(Found, 200, await send("GET", `/memories/search?${toQuery({ q, ...query })}`))
        .memories,
    list: async (query: Query = {}) =>
      shaped(Page, 200, await send("GET", `/memories?${toQuery(query)}`)),
    get: async (id: string) => shaped(Memory, 200, await send("GET", `/memories/${id}`)),
    update: async (id: string, changes: unknown, headers: Record<string, string> = {}) =>
      shaped(Memory, 200, await send("PUT", `/memories/${id}`, { json: changes, headers })),
    remove: async (id: string) => {
      const answer = await send("DELETE", `/memories/${id}`);
      expect(answer).toMatchObject({ status: 200, body: { id, deleted: true } });
    },
    removeMatching: async (query: Query) =>
      shaped(DeletedMany, 200, await send("DELETE", `/memories?${toQuery(query)}`)).deleted,
  };
}

/** A query string of these parameters. */
export function toQuery(query: Query): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
}

/** The contents of memories, in their order. */
export function contentsOf(memories: readonly { content: string }[]): string[] {
  return memories.map(({ content }) => content);
}

/** The body of an answer, after a check of its status and shape, unknown fields included. */
function shaped<Schema extends TSchema>(schema: Schema, status: number, answer: Answer) {
  expect(answer).toMatchObject({ status });
  const body: unknown = answer.body;
  if (!Value.Check(schema, body)) {
    throw new Error(`not as published: ${JSON.stringify([...Value.Errors(schema, body)].at(0))}`);
  }
  // A field that the schema does not know would be lost here.
  expect(Value.Clean(schema, structuredClone(body))).toEqual(body);
  return body as Static<Schema>;
}
