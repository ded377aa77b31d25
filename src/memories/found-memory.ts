import { type Static, Type } from "@sinclair/typebox";
import { EXAMPLE_ID, Memory } from "./memory.ts";

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

const logOdds = (description: string) => Type.Number({ description, examples: [1.2] });

/**
 * Why a memory has its score. `start` and the parts after it add up to the log-odds of `relevance`, and the
 * score is relevance · (1 − decay + decay · retention).
 */
export const Explanation = Type.Object(
  {
    start: logOdds("What every memory begins with, before anything speaks for it."),
    meaning: logOdds("How near its meaning is to the query's, as a whole and word by word."),
    words: logOdds("How many of the query's words it has; rare ones count more."),
    session: logOdds("What stands around it in its session: an answer often follows its question."),
    wording: logOdds("Who says it, whether it asks or tells, and names and numbers as asked for."),
    time: logOdds(
      "Whether it is of the time that the query names, or the version of a fact that holds.",
    ),
    length: logOdds("Less for long texts, in which many words answer nothing."),
    question: logOdds(
      "What all results together tell of whether anything here answers the query; it makes scores of different queries comparable.",
    ),
    relevance: share("What these come to: 1 / (1 + e^−sum)."),
    retention: share("What is left of it at its age."),
    decay: share("The share of the score that age can take."),
  },
  {
    description:
      "What the score is made of. The first eight are log-odds: 0 is neither for nor against, and each 2.3 makes it ten times as likely that the memory answers the query.",
  },
);
export type Explanation = Static<typeof Explanation>;

const place = (description: string) => Type.Integer({ minimum: 0, description });

/** The part of a memory's text that made it match. */
export const Matched = Type.Object(
  {
    text: Type.String({
      description: "At most 400 characters: whole sentences where they fit.",
      examples: ["The user prefers to be called Sam."],
    }),
    start: place("Where it begins in `content`, in characters: Unicode code points, from 0."),
    end: place("Where it ends in `content`: the first character after it."),
  },
  {
    description:
      "The passage that made it match: that of the nearest meaning, and in it where most of the query's words are together. All of a short `content`.",
  },
);
export type Matched = Static<typeof Matched>;

/** A memory that a search found. */
export const FoundMemory = Type.Object({
  ...Memory.properties,
  score: Type.Number({
    minimum: 0,
    maximum: 1,
    description:
      "About the chance that it bears on the query, comparable between queries and accounts; age counts.",
    examples: [0.82],
  }),
  matched: Matched,
  newer: Type.Optional(
    Type.String({
      description: "Id of the newest memory that was found of the same fact, where it is another.",
      examples: [EXAMPLE_ID],
    }),
  ),
  explanation: Type.Optional(Explanation),
});
export type FoundMemory = Static<typeof FoundMemory>;
