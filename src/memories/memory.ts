import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { checked, instant, jsonObject, parseInstant, problemOf, text } from "../input-kinds.ts";
import { allows, type Scope } from "../keys/scopes.ts";
import { Warning } from "./warning.ts";

/** Limits of a memory's fields. Characters are Unicode code points. */
export const LIMITS = {
  content: 32_768,
  tags: 32,
  tag: 64,
  identifier: 128,
  /** Bytes of `metadata` as JSON in UTF-8. */
  metadata: 4_096,
  batch: 256,
  query: 2_000,
  page: 100,
} as const;

/** Bytes of a character in JSON at the most: two escapes of six. */
const ESCAPED = 12;
/** Bytes of a memory in JSON without its texts: names, quotes, commas, and some white space. */
const AROUND = 4_096;

/** Bytes of a batch: as many of the largest memories as it may have, however they are escaped. */
export const MAX_BATCH_BYTES =
  LIMITS.batch *
  ((LIMITS.content + LIMITS.tags * LIMITS.tag + 3 * LIMITS.identifier + LIMITS.metadata) * ESCAPED +
    AROUND);

/** The shape of a memory's id. Anything else can't exist. */
export const MEMORY_ID = /^mem_[0-9a-f]{32}$/;

export const EXAMPLE_ID = "mem_0197f2c4e0b47c3a9a1d5b8e2f60c711";
const EXAMPLE_TIME = "2026-11-21T07:00:00.000Z";

const content = text(
  {
    minLength: 1,
    maxLength: LIMITS.content,
    description: "The memory's text. Not only white space.",
    examples: ["The user prefers to be called Sam."],
  },
  { notBlank: true },
);
export const Tag = text({ minLength: 1, maxLength: LIMITS.tag }, { trimmed: true, noComma: true });
const tags = Type.Array(Tag, {
  maxItems: LIMITS.tags,
  description: "Labels to filter by, without commas. Trimmed; duplicates are dropped.",
  examples: [["work"]],
});
export const AgentId = text({
  minLength: 1,
  maxLength: LIMITS.identifier,
  description: "The agent that the memory belongs to.",
  examples: ["planner"],
});
export const SessionId = text({
  minLength: 1,
  maxLength: LIMITS.identifier,
  description: "The conversation that the memory comes from.",
  examples: ["s-42"],
});
export const Project = text({
  minLength: 1,
  maxLength: LIMITS.identifier,
  description: "The project that the memory belongs to.",
  examples: ["atlas"],
});
const importance = Type.Number({
  minimum: 0,
  maximum: 1,
  description: "0 to 1. The higher, the slower the memory's score decays with age.",
  examples: [0.5],
});
const metadata = jsonObject({
  maxBytes: LIMITS.metadata,
  description: "Any JSON object of at most 4 KiB. Kept and returned, not searched.",
  examples: [{}],
});

const pinned = Type.Boolean({ description: "Whether it shall never fade.", examples: [false] });
const expiresAt = instant({
  description: "From then on it is in no answer, and it is forgotten.",
  examples: ["2027-03-01T00:00:00.000Z"],
});
const memoryId = (description: string) =>
  checked<string>({ type: "string", description, examples: [EXAMPLE_ID] }, (value) =>
    typeof value === "string" && MEMORY_ID.test(value)
      ? null
      : "must be mem_ and 32 hexadecimal digits in lower case",
  );
const supersedes = memoryId(
  "The memory that was true before: it is kept as history, out of searches and lists. Only for what has changed; what was wrong is changed in place.",
);
const supersededBy = memoryId("The memory that took its place.");

/** What may be cleared, or left out, by `null`. */
const orNull = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** The fields of `POST /memories`. */
export const NewMemory = Type.Object(
  {
    content,
    tags: Type.Optional({ ...tags, default: [] }),
    agent_id: Type.Optional(AgentId),
    session_id: Type.Optional(SessionId),
    project: Type.Optional(orNull(Project)),
    importance: Type.Optional({ ...importance, default: 0.5 }),
    // No default: an Idempotency-Key of the version without it stands for the same request.
    pinned: Type.Optional(pinned),
    supersedes: Type.Optional(orNull(supersedes)),
    metadata: Type.Optional({ ...metadata, default: {} }),
    expires_at: Type.Optional(orNull(expiresAt, "A moment in the future.")),
  },
  { additionalProperties: false },
);
export type NewMemory = Static<typeof NewMemory>;

const CLEARS = "`null` clears it.";

/** The fields of `PUT /memories/:id`: those left out stay as they are. */
export const MemoryChanges = Type.Partial(
  Type.Object({
    content,
    tags,
    agent_id: orNull(AgentId, CLEARS),
    session_id: orNull(SessionId, CLEARS),
    project: orNull(Project, CLEARS),
    importance,
    pinned,
    metadata,
    expires_at: orNull(expiresAt, `A moment in the future. ${CLEARS}`),
  }),
  { additionalProperties: false, minProperties: 1 },
);
export type MemoryChanges = Static<typeof MemoryChanges>;

const WAYS = ["api", "mcp", "dashboard", "import", "capture"] as const;

/** Which credential wrote a memory's text: as the server knows it, not as a client says. */
export const MemorySource = Type.Object(
  {
    via: Type.Union(
      WAYS.map((via) => Type.Literal(via)),
      { description: "The way it came." },
    ),
    by: Type.String({
      description: "Name of the key or app, or the person's e-mail address.",
      examples: ["laptop"],
    }),
    id: Type.String({
      description: "Id of the key, of what an app was allowed, or of the person's account.",
      examples: ["key_0197f2c4e0b47c3a9a1d5b8e2f60c711"],
    }),
  },
  { description: "Which credential wrote its text; `null` where that was not recorded yet." },
);
export type MemorySource = Static<typeof MemorySource>;

const memoryFields = {
  id: Type.String({ description: "`mem_` and a UUID in hex.", examples: [EXAMPLE_ID] }),
  content,
  tags,
  agent_id: orNull(AgentId),
  session_id: orNull(SessionId),
  project: orNull(Project),
  importance,
  pinned,
  supersedes: orNull(supersedes),
  superseded_by: orNull(supersededBy),
  metadata,
  source: orNull(MemorySource),
  created_at: instant({ description: "UTC.", examples: [EXAMPLE_TIME] }),
  updated_at: instant({ description: "UTC.", examples: [EXAMPLE_TIME] }),
  expires_at: orNull(expiresAt),
};

/** A memory as every transport shows it. */
export const Memory = Type.Object(memoryFields);
export type Memory = Static<typeof Memory>;

/** What is told of a memory that was written to who may not read it. */
type Receipt = Pick<Memory, "id" | "created_at" | "updated_at">;

/**
 * A memory as who wrote it sees it: whole only with the scope to read, for what is there may have
 * been written by others.
 */
export function writtenMemory(memory: Memory, scopes: readonly Scope[]): Memory | Receipt {
  if (allows(scopes, "memories:read")) return memory;
  const { id, created_at, updated_at } = memory;
  return { id, created_at, updated_at };
}

const moment = instant({ examples: [EXAMPLE_TIME] });
/** Lists can't go back to before 1970. */
const importedMoment = (description: string) =>
  checked<string>(
    { type: "string", format: "date-time", description, examples: moment.examples },
    (value) => {
      const isEarly = typeof value === "string" && (parseInstant(value) ?? 0) < 0;
      return problemOf(moment, value) ?? (isEarly ? "must not be before 1970" : null);
    },
  );

/** A line of `POST /memories/import`: a memory as it is exported, or as much of it as there is. */
export const ImportedMemory = Type.Object(
  {
    id: Type.Optional(
      memoryId("As it is exported. By default one that follows from what the line says."),
    ),
    ...NewMemory.properties,
    agent_id: Type.Optional(MemoryChanges.properties.agent_id),
    session_id: Type.Optional(MemoryChanges.properties.session_id),
    superseded_by: Type.Optional(
      orNull(
        supersededBy,
        "As it is exported. It also follows from `supersedes` of a line beside it, or after it.",
      ),
    ),
    source: Type.Optional(
      orNull(MemorySource, "As it is exported. What imports it is recorded instead."),
    ),
    created_at: Type.Optional(importedMoment("By default `updated_at`, or now.")),
    updated_at: Type.Optional(importedMoment("By default `created_at`.")),
    expires_at: Type.Optional(orNull(importedMoment("May have passed."))),
  },
  { additionalProperties: false },
);
export type ImportedMemory = Static<typeof ImportedMemory>;

const lineCount = (description: string) => Type.Integer({ minimum: 0, description });

/** What an import did: each line that is not empty is counted once. */
export const ImportReport = Type.Object({
  created: lineCount("New memories."),
  updated: lineCount("Lines that were newer than the memory with their id, and replaced it."),
  unchanged: lineCount("Lines whose memory is here already, just so."),
  kept: lineCount("Lines that differ from the memory with their id, which is as new or newer."),
  invalid: lineCount("Lines that are no memory."),
  masked: lineCount(
    "Lines with secrets such as API keys, which were masked. They count above too.",
  ),
  skipped: Type.Array(
    Type.Object({
      line: Type.Integer({ minimum: 1, description: "Its number." }),
      outcome: Type.Union([Type.Literal("kept"), Type.Literal("invalid")]),
      reason: Type.String({ examples: ["content is required."] }),
    }),
    { description: "Why lines were kept out: the first 1,000 of `kept` and `invalid`." },
  ),
});
export type ImportReport = Static<typeof ImportReport>;

/** A memory that says nearly the same as one that was saved, or that it may have outdated. */
export const Similar = Type.Object({
  id: Type.String({ description: "Of the memory that is like the one that was saved." }),
  score: Type.Number({ minimum: 0, maximum: 1, description: "1 for the same text." }),
  kind: Type.Union([Type.Literal("near"), Type.Literal("changed")], {
    description:
      "`near` says nearly the same; `changed` says something else of the same, and may be superseded.",
  }),
});
export type Similar = Static<typeof Similar>;

/** What saving a memory answers. */
export const SavedMemory = Type.Object({
  ...memoryFields,
  warnings: Type.Optional(
    Type.Array(Warning, { description: "Present only where there is something to tell." }),
  ),
  similar: Type.Optional(
    Type.Array(Similar, {
      description:
        "With `?similar=true`: at most 10 memories that say nearly the same, or that may be outdated.",
    }),
  ),
});

/** Tags as they are kept: trimmed, each once, in the order given. */
export function normaliseTags(values: readonly string[]): string[] {
  return [...new Set(values.map((value) => value.trim()))];
}
