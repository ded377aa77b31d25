import { type Static, Type } from "@sinclair/typebox";
import { Memory } from "../../model/memory.ts";

/** What can be tidied, in the order of a report. */
export const TIDY_KINDS = [
  "restatements",
  "contradictions",
  "never_found",
  "expiring",
  "secrets",
  "revoked",
  "small_projects",
] as const;
export type TidyKind = (typeof TIDY_KINDS)[number];

/** What can be done with a group; see `ALLOWED_ACTIONS`. */
const TIDY_ACTIONS = ["supersede", "delete", "pin", "expire", "merge"] as const;
export type TidyAction = (typeof TIDY_ACTIONS)[number];

/** The actions that each kind allows, the proposed one first. */
export const ALLOWED_ACTIONS: Record<TidyKind, readonly TidyAction[]> = {
  restatements: ["supersede", "delete"],
  contradictions: ["supersede", "delete"],
  never_found: ["expire", "pin", "delete"],
  expiring: ["expire", "pin", "delete"],
  secrets: ["delete"],
  revoked: ["delete"],
  small_projects: ["merge", "pin", "delete"],
};

const literals = <Value extends string>(values: readonly Value[], description: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description },
  );

export const TidyKindSchema = literals(TIDY_KINDS, "What there is to tidy.");
const TidyActionSchema = literals(
  TIDY_ACTIONS,
  "`supersede`: `keep` supersedes the others, which stay as its history. `delete`: deletes the memories, of restatements and contradictions those besides `keep`. `pin`: never fades, and does not expire. `expire`: expires in 30 days, or when it does anyway. `merge`: moves to `project`.",
);

export const TidyGroup = Type.Object({
  id: Type.String({
    description: "Names the group as it is. It differs after a change of one of its memories.",
    examples: ["restatements.mem_0197f2c4e0b47c3a9a1d5b8e2f60c711.5f0c2a9b1d3e"],
  }),
  kind: TidyKindSchema,
  memories: Type.Array(Memory, {
    description: "The memory to keep comes first, then the newest.",
  }),
  proposal: Type.Object({
    action: TidyActionSchema,
    keep: Type.Optional(Type.String({ description: "Id of the memory that stays." })),
    project: Type.Optional(Type.String({ description: "The project to merge into." })),
  }),
  actions: Type.Array(TidyActionSchema, {
    description: "What can be done with the group, the proposed action first.",
  }),
  reason: Type.String({ examples: ["2 memories say the same."] }),
});
export type TidyGroup = Static<typeof TidyGroup>;

const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });

/** The answer of `GET /memories/tidy`. */
export const TidyReport = Type.Object({
  kinds: Type.Object(
    {
      restatements: count("Groups of memories that say the same."),
      contradictions: count("Groups of a memory and earlier ones whose fact it changes."),
      never_found: Type.Union([count(), Type.Null()], {
        description: "Memories that no search has found in 180 days; `null` if it is not known.",
      }),
      expiring: count("Memories that expire in the next 7 days."),
      secrets: Type.Union([count(), Type.Null()], {
        description: "Memories that contain secrets; `null` while they are looked for.",
      }),
      revoked: count("Memories that a key or an app wrote that was revoked."),
      small_projects: count("Projects with one memory, older than a week."),
    },
    { description: "The number of groups of each kind." },
  ),
  compared: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
    description:
      "The share of the memories that have been compared with those near them, about; `null` for an account that does not fit in the server's memory, where none are.",
  }),
  groups: Type.Array(TidyGroup),
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: "The `cursor` of the next page; `null` on the last page.",
  }),
});
export type TidyReport = Static<typeof TidyReport>;

/** The most groups of one request. */
export const MAX_TIDIED = 100;

/** The body of `POST /memories/tidy`. */
export const TidyRequest = Type.Object(
  {
    groups: Type.Array(
      Type.Object(
        {
          id: Type.String({ minLength: 1, maxLength: 128 }),
          action: Type.Optional(TidyActionSchema),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: MAX_TIDIED },
    ),
    dry_run: Type.Optional(
      Type.Boolean({ description: "Whether to say what would change, and change nothing." }),
    ),
  },
  { additionalProperties: false },
);
export type TidyRequest = Static<typeof TidyRequest>;

/** The answer of `POST /memories/tidy`. */
export const TidyOutcome = Type.Object({
  superseded: count("Memories that become history."),
  deleted: count("Memories that are deleted permanently."),
  pinned: count(),
  expiring: count("Memories that will expire."),
  moved: count("Memories that move to another project."),
  undo: Type.Union([Type.String(), Type.Null()], {
    description:
      "Id of the change: `DELETE /memories/tidy?undo=ID` undoes it for ten seconds. `null` if nothing changes.",
  }),
});
export type TidyOutcome = Static<typeof TidyOutcome>;
