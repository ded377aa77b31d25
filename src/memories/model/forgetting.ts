import { type Static, Type } from "@sinclair/typebox";
import { instant } from "../../text/input-kinds.ts";
import { LIMITS, Memory } from "./memory.ts";

/** How a memory was found by a subject, in the order of answers; see `AboutMemory`. */
export const FOUND_BY = ["text", "fields", "version", "perhaps"] as const;
export type FoundBy = (typeof FOUND_BY)[number];

/** The headings of the groups in which people see them. */
export const FOUND_HEADINGS: Record<FoundBy, string> = {
  text: "The text names it",
  fields: "Only a tag, the metadata, the project, the agent or the session names it",
  version: "An older or newer version of these",
  perhaps: "Perhaps about it: near in meaning, or a similar name",
};

/** The most memories that a request forgets. */
const MAX_FORGOTTEN = 1_000;
/** Seconds after which deleted data has left the files at the latest. */
const FORGOTTEN_WITHIN = 60;

const EXAMPLE_TIME = "2026-11-27T10:00:00.000Z";
const moment = (description: string) => instant({ description, examples: [EXAMPLE_TIME] });
const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [3] });

/** A memory that is about a subject, or may be. */
export const AboutMemory = Type.Object({
  id: Memory.properties.id,
  found_by: Type.Union(
    FOUND_BY.map((each) => Type.Literal(each)),
    {
      description:
        "`text`: its text names the subject. `fields`: only its tags, metadata, project, agent or session do. `version`: it supersedes such a memory, or is superseded by one. `perhaps`: near in meaning, or a similar name.",
    },
  ),
  excerpt: Type.String({ description: "The beginning of its text." }),
  created_at: moment("UTC."),
  project: Memory.properties.project,
  captured: Type.Boolean(),
  superseded: Type.Boolean(),
});
export type AboutMemory = Static<typeof AboutMemory>;

/** What is kept about a subject. */
export const FoundAbout = Type.Object({
  memories: Type.Array(AboutMemory),
  more: count("How many more there are; ask again after forgetting these."),
  sessions: Type.Array(
    Type.Object({ session_id: Type.String(), others: Type.Integer({ minimum: 0 }) }),
    {
      description:
        "Sessions of memories that name the subject, with the number of their other memories.",
    },
  ),
  spaces: Type.Array(
    Type.Object({ space: Type.String(), memories: Type.Integer({ minimum: 0 }) }),
    { description: "The person's other spaces with memories that name the subject. They stay." },
  ),
});
export type FoundAbout = Static<typeof FoundAbout>;

/** The body of `POST /memories/forget`. */
export const Forget = Type.Object(
  {
    ids: Type.Array(Memory.properties.id, { minItems: 1, maxItems: MAX_FORGOTTEN }),
    about: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LIMITS.query,
        description: "What was asked to be forgotten, only if the receipt shall say so.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type Forget = Static<typeof Forget>;

/** The proof that memories were forgotten. It has nothing of what they said. */
export const Receipt = Type.Object({
  version: Type.String({ examples: ["1.2.3"] }),
  account: Type.String({ description: "Id of the account, or of the space." }),
  by: Type.Union([Type.String(), Type.Null()], {
    description: "The name of the key or app, or the e-mail address of the person who asked.",
  }),
  about: Type.Union([Type.String(), Type.Null()], {
    description: "Null if it was not to be recorded.",
  }),
  deleted: count("The memories that were deleted permanently,"),
  captured: count("those of them that were captured from conversations,"),
  superseded: count("and those that newer ones had superseded."),
  asked_at: moment("UTC."),
  deleted_at: moment("From then on no answer has them."),
  leaves_files_by: moment("When their data has left the server's files at the latest."),
  left_files_at: Type.Union([moment(""), Type.Null()], {
    description:
      "When the server checked that its files have none of it any more; null if it did not, as with replicas.",
  }),
});
export type Receipt = Static<typeof Receipt>;

/** What a receipt can't speak for. */
export const STAYS_ELSEWHERE: readonly string[] = [
  "Backups and exports that were made before still have the memories.",
  "Other accounts and spaces, and the transcripts that agents keep themselves, are not part of this.",
  "Questions that agents asked stay in the activity for 90 days, if it keeps them.",
];

/** When data that is deleted at a moment has left the files at the latest, in milliseconds since 1970. */
export function leavesFilesBy(deletedAt: number): number {
  return deletedAt + FORGOTTEN_WITHIN * 1_000;
}

/** A receipt as a text for people. */
export function receiptText(receipt: Receipt): string {
  const { deleted, captured, superseded, about, by, left_files_at } = receipt;
  const lines: [string, string][] = [
    ["Made by", `ctxd ${receipt.version}`],
    ["Account", receipt.account],
    ["Asked by", by ?? "unknown"],
    ["Asked at", receipt.asked_at],
    ["About", about ?? "not recorded"],
    ["Deleted", `${deleted}, of which captured: ${captured}, superseded: ${superseded}`],
    ["Deleted at", receipt.deleted_at],
    left_files_at === null
      ? ["Leave the files", `by ${receipt.leaves_files_by} at the latest`]
      : ["Left the files", `checked at ${left_files_at}`],
  ];
  const table = lines.map(([name, value]) => `${name.padEnd(17)}${value}`).join("\n");
  return `Receipt: memories deleted permanently\n\n${table}\n\n${STAYS_ELSEWHERE.join("\n")}\n`;
}
