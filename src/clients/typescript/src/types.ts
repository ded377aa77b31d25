import type { components, operations } from "./schema.ts";

type Schemas = components["schemas"];
type Operation = keyof operations;

/** What a call takes: an optional field may be there and undefined too. */
type Input<Type> = {
  [Name in keyof Type]: Record<never, never> extends Pick<Type, Name>
    ? Type[Name] | undefined
    : Type[Name];
};

type Body<Name extends Operation> = operations[Name] extends {
  requestBody: { content: { "application/json": infer Json } };
}
  ? Json
  : never;

type Query<Name extends Operation> = NonNullable<operations[Name]["parameters"]["query"]>;

/** A parameter as a program has it: the server reads texts. */
type Parameter<Name, Type> = Name extends "tags"
  ? readonly string[]
  : Name extends "project"
    ? string | null
    : Name extends `created_${string}`
      ? string | Date
      : NonNullable<Type> extends "true" | "false"
        ? boolean
        : NonNullable<Type>;

type Parameters<Type> = { [Name in keyof Type]?: Parameter<Name, Type[Name]> | undefined };

/** What every call takes. */
export interface Calling {
  /** Ends the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A memory. */
export type Memory = Schemas["Memory"];
/** A memory that a search found, with its `score` and the passage that `matched`. */
export type FoundMemory = Schemas["FoundMemory"];
/**
 * A memory that was saved or changed, with `warnings` where there is something to tell. A key that may
 * not read is told `id`, `created_at` and `updated_at` alone.
 */
export type SavedMemory = Schemas["SavedMemory"];
/** A memory as it is exported, or as much of it as there is. */
export type ImportedMemory = Input<Schemas["ImportedMemory"]>;
/** Counts by tag, agent and day. */
export type Stats = Schemas["Stats"];

/** What is saved: only `content` is needed. */
export type NewMemory = Input<Body<"createMemory">>;
/** What shall be other than it is; fields that are left out stay. */
export type MemoryChanges = Input<Body<"updateMemory">>;

/** How to search. `project: null` searches all, whatever the client's own one is. */
export type SearchOptions = Parameters<Omit<Query<"searchMemories">, "q">> & Calling;
/** What to list. `project: null` lists all, whatever the client's own one is. */
export type ListOptions = Parameters<Omit<Query<"listMemories">, "limit" | "cursor">> & Calling;
export type PageOptions = Parameters<Query<"listMemories">> & Calling;
export type ExportOptions = Parameters<Query<"exportMemories">> & Calling;
/** What to delete: at least one filter is needed. With `project`, that one alone. */
export type DeletionFilter = Parameters<Query<"deleteMemories">>;

export type Page = operations["listMemories"]["responses"][200]["content"]["application/json"];
/** What an import did: each line that is not empty is counted once. */
export type ImportReport =
  operations["importMemories"]["responses"][200]["content"]["application/json"];
