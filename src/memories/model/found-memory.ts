import { type Static, Type } from "@sinclair/typebox";
import { EXAMPLE_ID, Memory } from "./memory.ts";

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

const logOdds = (description: string) => Type.Number({ description, examples: [1.2] });

/**
 * Why a memory has its score. `start` and the parts after it add up to the log-odds of `relevance`; the
 * score is relevance · (1 − decay + decay · retention).
 */
export const Explanation = Type.Object(
  {
    start: logOdds("The start value of every memory, before any signal counts."),
    meaning: logOdds("How near its meaning is to the query's, as a whole and word by word."),
    words: logOdds("How many of the query's words it has; rare words count more."),
    session: logOdds(
      "The memories around it in its session: an answer often follows its question.",
    ),
    wording: logOdds(
      "The speaker, whether it is a question or a statement, and the names and numbers of the query.",
    ),
    time: logOdds(
      "Whether it is from the time that the query names, and whether it is the current version of a fact.",
    ),
    length: logOdds("Lower for long texts, of which many words don't answer the query."),
    question: logOdds(
      "Whether any result answers the query, judged from all results. It makes scores of different queries comparable.",
    ),
    relevance: share("The probability of the sum of these: 1 / (1 + e^−sum)."),
    retention: share("The share of the memory that remains at its age."),
    decay: share("The share of the score that depends on retention."),
  },
  {
    description:
      "The parts of the score. All but `relevance`, `retention` and `decay` are log-odds: 0 counts neither for nor against the memory, and each 2.3 makes it ten times as likely that the memory answers the query.",
  },
);
export type Explanation = Static<typeof Explanation>;

const place = (description: string) => Type.Integer({ minimum: 0, description });

/** The part of a memory's text that matches the query. */
export const Matched = Type.Object(
  {
    text: Type.String({
      description: "At most 400 characters: whole sentences where they fit.",
      examples: ["The user prefers to be called Sam."],
    }),
    start: place("Its first character in `content`, counted in Unicode code points from 0."),
    end: place("The first character after it in `content`."),
  },
  {
    description:
      "The matched passage: in the passage of the nearest meaning, the part with most of the query's words. A short `content` is returned whole.",
  },
);
export type Matched = Static<typeof Matched>;

/** A memory that a search has found. */
export const FoundMemory = Type.Object({
  ...Memory.properties,
  score: Type.Number({
    minimum: 0,
    maximum: 1,
    description:
      "Approximately the probability that the memory answers the query, lowered by age. Comparable between queries and accounts.",
    examples: [0.82],
  }),
  matched: Matched,
  newer: Type.Optional(
    Type.String({
      description: "Id of the newest found memory of the same fact, if it is another one.",
      examples: [EXAMPLE_ID],
    }),
  ),
  replaces: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Ids of older found memories of the same fact, the newest first. This one holds now.",
      examples: [[EXAMPLE_ID]],
    }),
  ),
  alike: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "With `known=true`: ids of other found memories that say the same. They are no results of their own.",
      examples: [[EXAMPLE_ID]],
    }),
  ),
  explanation: Type.Optional(Explanation),
});
export type FoundMemory = Static<typeof FoundMemory>;
