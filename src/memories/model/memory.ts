import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { allows, type Scope } from "../../keys/scopes.ts";
import {
  checked,
  instant,
  jsonObject,
  parseInstant,
  problemOf,
  text,
} from "../../text/input-kinds.ts";

/** Limits of a memory's fields. Characters are Unicode code points. */
export const LIMITS = {
  content: 32_768,
  tags: 32,
  tag: 64,
  identifier: 128,
  /** Bytes of `metadata` as JSON in UTF-8. */
  metadata: 4_096,
  /** Memories of a history. A text that is replaced every day reaches it in three years. */
  history: 1_000,
  batch: 256,
  query: 2_000,
  page: 100,
} as const;

/**
 * The most bytes of a batch in JSON, and its values: 195 for each memory. Larger loads are imported. Parsing 8 MiB takes
 * 5 to 15 ms, and 80 if they are line breaks.
 */
export const MAX_BATCH = { bytes: 8 << 20, values: 50_000 } as const;

/** The format of a memory's id. No memory has another id. */
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
export const Tag = text(
  { minLength: 1, maxLength: LIMITS.tag },
  { trimmed: true, noComma: true, visible: true },
);
const tags = Type.Array(Tag, {
  maxItems: LIMITS.tags,
  description: "Labels to filter by, without commas. Trimmed; duplicates are dropped.",
  examples: [["work"]],
});
const label = (description: string, example: string) =>
  text(
    { minLength: 1, maxLength: LIMITS.identifier, description, examples: [example] },
    { visible: true },
  );
export const AgentId = label("The agent that the memory belongs to.", "planner");
export const SessionId = label("The conversation that the memory comes from.", "s-42");
export const Project = label("The project that the memory belongs to.", "atlas");
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

const pinned = Type.Boolean({ description: "Whether the memory never fades.", examples: [false] });
const expiresAt = instant({
  description: "From this moment on no answer contains the memory, and it is deleted.",
  examples: ["2027-03-01T00:00:00.000Z"],
});
const memoryId = (description: string) =>
  checked<string>({ type: "string", description, examples: [EXAMPLE_ID] }, (value) =>
    typeof value === "string" && MEMORY_ID.test(value)
      ? null
      : "must be mem_ and 32 hexadecimal digits in lower case",
  );
const supersedes = memoryId(
  "Id of the memory that was true before. It is kept as history, out of searches and lists. Only for facts that have changed: to correct a memory, change it.",
);
const supersededBy = memoryId("Id of the memory that supersedes this one.");

/** A field that `null` clears. */
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
    // No default: a request of an earlier version without this field must keep its hash for its
    // `Idempotency-Key`.
    pinned: Type.Optional(pinned),
    supersedes: Type.Optional(orNull(supersedes)),
    metadata: Type.Optional({ ...metadata, default: {} }),
    expires_at: Type.Optional(orNull(expiresAt, "A moment in the future.")),
  },
  { additionalProperties: false, examples: [{ content: "The user prefers to be called Sam." }] },
);
export type NewMemory = Static<typeof NewMemory>;

const CLEARS = "`null` clears it.";

/** The fields of `PUT /memories/:id`. Fields that are left out stay as they are. */
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

/** The credential that wrote a memory's text, as the server knows it. */
export const MemorySource = Type.Object(
  {
    via: Type.Union(
      WAYS.map((via) => Type.Literal(via)),
      { description: "How the text came to the server." },
    ),
    by: Type.String({
      description: "Name of the key or app, or the person's e-mail address.",
      examples: ["laptop"],
    }),
    id: Type.String({
      description: "Id of the key, of the app's grant, or of the person's account.",
      examples: ["key_0197f2c4e0b47c3a9a1d5b8e2f60c711"],
    }),
  },
  { description: "The credential that wrote the text; `null` for memories of early versions." },
);
export type MemorySource = Static<typeof MemorySource>;

/**
 * The source to record for a write. Writes in a person's session count as the dashboard's, whatever route
 * they use.
 */
export function sourceOf(
  { via, credential }: { via: string; credential: Omit<MemorySource, "via"> },
  way: MemorySource["via"],
): MemorySource {
  const { by, id } = credential;
  return { via: via === "session" && way === "api" ? "dashboard" : way, by, id };
}

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
  changed_since: Type.Optional(
    Type.Literal(true, {
      description: "With `as_of`: changed since then, and shown as it is now.",
    }),
  ),
  space: Type.Optional(orNull(Type.String(), "For members of a space: its name; `null` outside.")),
};

/** A memory as every transport shows it. */
export const Memory = Type.Object(memoryFields);
export type Memory = Static<typeof Memory>;

/** The answer to a client that may write memories and not read them. */
type Receipt = Pick<Memory, "id" | "created_at" | "updated_at">;

/**
 * The answer to a client that wrote a memory. Without the scope to read it is a receipt: other clients may
 * have written the rest.
 */
export function writtenMemory(memory: Memory, scopes: readonly Scope[]): Memory | Receipt {
  if (allows(scopes, "memories:read")) return memory;
  const { id, created_at, updated_at } = memory;
  return { id, created_at, updated_at };
}

const moment = instant({ examples: [EXAMPLE_TIME] });
/** A moment of an import. Lists can't show times before 1970. */
const importedMoment = (description: string) =>
  checked<string>(
    { type: "string", format: "date-time", description, examples: moment.examples },
    (value) => {
      const isEarly = typeof value === "string" && (parseInstant(value) ?? 0) < 0;
      return problemOf(moment, value) ?? (isEarly ? "must not be before 1970" : null);
    },
  );

/** A line of `POST /memories/import`: an exported memory, or part of one. */
export const ImportedMemory = Type.Object(
  {
    id: Type.Optional(memoryId("As exported. The default follows from the line's content.")),
    ...NewMemory.properties,
    agent_id: Type.Optional(MemoryChanges.properties.agent_id),
    session_id: Type.Optional(MemoryChanges.properties.session_id),
    superseded_by: Type.Optional(
      orNull(supersededBy, "As exported. It is also set by the `supersedes` of another line."),
    ),
    source: Type.Optional(
      orNull(MemorySource, "As exported. Ignored: the importing credential is recorded."),
    ),
    created_at: Type.Optional(importedMoment("By default `updated_at`, or now.")),
    updated_at: Type.Optional(importedMoment("By default `created_at`.")),
    expires_at: Type.Optional(orNull(importedMoment("May have passed."))),
  },
  { additionalProperties: false },
);
export type ImportedMemory = Static<typeof ImportedMemory>;

const lineCount = (description: string) => Type.Integer({ minimum: 0, description });

/** The result of an import. Each line that is not empty is counted once. */
export const ImportReport = Type.Object({
  created: lineCount("New memories."),
  updated: lineCount("Lines that were newer than the memory with their id and replaced it."),
  unchanged: lineCount("Lines whose memory exists with the same content."),
  kept: lineCount("Lines that differ from the memory with their id, which is at least as new."),
  invalid: lineCount("Lines that are not a valid memory."),
  masked: lineCount(
    "Lines whose secrets, such as API keys, were masked. They are counted above too.",
  ),
  skipped: Type.Array(
    Type.Object({
      line: Type.Integer({ minimum: 1, description: "The line's number." }),
      outcome: Type.Union([Type.Literal("kept"), Type.Literal("invalid")]),
      reason: Type.String({ examples: ["content is required."] }),
    }),
    { description: "Why lines were not imported: the first 1,000 of `kept` and `invalid`." },
  ),
});
export type ImportReport = Static<typeof ImportReport>;

/** A memory that says nearly the same as a saved one, or that it may have outdated. */
export const Similar = Type.Object({
  id: Type.String({ description: "Id of the similar memory." }),
  score: Type.Number({ minimum: 0, maximum: 1, description: "1 for the same text." }),
  kind: Type.Union([Type.Literal("near"), Type.Literal("changed"), Type.Literal("superseded")], {
    description:
      "`near`: it says nearly the same. `changed`: it says something else about the same subject, and may be outdated. `superseded`: it says the same, and was superseded by `superseded_by`.",
  }),
  superseded_by: Type.Optional(
    Type.String({ description: "Id of the memory that holds now, if the kind is `superseded`." }),
  ),
});
export type Similar = Static<typeof Similar>;

/** A warning about a memory that was saved nevertheless. */
export const Warning = Type.Object({
  code: Type.Literal("secret"),
  path: Type.String({ description: "JSON pointer to the field.", examples: ["/content"] }),
  message: Type.String({ examples: ["Contains what looks like a secret: github-token."] }),
});
export type Warning = Static<typeof Warning>;

/** The answer to saving a memory. */
export const SavedMemory = Type.Object({
  ...memoryFields,
  warnings: Type.Optional(
    Type.Array(Warning, { description: "Present only if there are warnings." }),
  ),
  similar: Type.Optional(
    Type.Array(Similar, {
      description:
        "With `?similar=true`: at most 10 memories that say nearly the same, or that the saved one may have outdated.",
    }),
  ),
});
