import type { components, operations } from "./schema.ts";

type Schemas = components["schemas"];
type Operation = keyof operations;

/** The input of a call. Optional fields may also be undefined. */
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

/** The type of a parameter in a program; it is sent as text. */
type Parameter<Name, Type> = Name extends "tags"
  ? readonly string[]
  : Name extends "project"
    ? string | null
    : Name extends `created_${string}` | "as_of"
      ? string | Date
      : NonNullable<Type> extends "true" | "false"
        ? boolean
        : NonNullable<Type>;

type Parameters<Type> = { [Name in keyof Type]?: Parameter<Name, Type[Name]> | undefined };

/** Options of every call. */
export interface Calling {
  /** Cancels the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A memory. */
export type Memory = Schemas["Memory"];
/** A search result: a memory with its `score` and the passage that `matched`. */
export type FoundMemory = Schemas["FoundMemory"];
/**
 * A memory that was saved or changed, with `warnings` if there are any. A key that may not read receives
 * only `id`, `created_at` and `updated_at`.
 */
export type SavedMemory = Schemas["SavedMemory"];
/** A memory as in an export. Only `content` is required. */
export type ImportedMemory = Input<Schemas["ImportedMemory"]>;
/** Counts by tag, agent and day. */
export type Stats = Schemas["Stats"];

/** A memory to save. Only `content` is required. */
export type NewMemory = Input<Body<"createMemory">>;
/** The fields to change. Omitted fields stay as they are. */
export type MemoryChanges = Input<Body<"updateMemory">>;

/** Options of a search. `project: null` searches all projects, even if the client has a project. */
export type SearchOptions = Parameters<Omit<Query<"searchMemories">, "q">> & Calling;
/** Filters of a list. `project: null` lists all projects, even if the client has a project. */
export type ListOptions = Parameters<Omit<Query<"listMemories">, "limit" | "cursor">> & Calling;
/** Options of a history. */
export type HistoryOptions = Parameters<
  Pick<NonNullable<Query<"getMemoryHistory">>, "as_of" | "space">
> &
  Calling;
export type PageOptions = Parameters<Query<"listMemories">> & Calling;
export type ExportOptions = Parameters<Query<"exportMemories">> & Calling;
/** Filters of a deletion, at least one. With `project`, only memories of that project are deleted. */
export type DeletionFilter = Parameters<Query<"deleteMemories">>;

export type Page = operations["listMemories"]["responses"][200]["content"]["application/json"];
export type TidyOptions = Parameters<Query<"getTidyReport">> & Calling;
/** What could be tidied: counts, and groups with proposals. */
export type TidyReport =
  operations["getTidyReport"]["responses"][200]["content"]["application/json"];
/** Groups of a report to tidy, each with another action if its own proposal is not wanted. */
export type TidyGroups = Body<"applyTidyProposals">["groups"];
/** What tidying changes, and the id by which it can be undone for ten seconds. */
export type TidyOutcome =
  operations["applyTidyProposals"]["responses"][200]["content"]["application/json"];
export type AboutOptions = Parameters<Omit<Query<"findMemoriesAbout">, "q">> & Calling;
/** What is kept about a person or a subject. */
export type FoundAbout =
  operations["findMemoriesAbout"]["responses"][200]["content"]["application/json"];
/** Options of forgetting: `about` is written on the receipt. */
export type ForgetOptions = Parameters<NonNullable<Query<"forgetMemories">>> &
  Pick<Input<Body<"forgetMemories">>, "about"> &
  Calling;
/** The proof that memories were deleted: counts and times, nothing of what they said. */
export type Receipt = operations["forgetMemories"]["responses"][200]["content"]["application/json"];
/** The outcome of an import. Each line that is not empty is counted once. */
export type ImportReport =
  operations["importMemories"]["responses"][200]["content"]["application/json"];
