import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { NewMemory } from "../../src/memories/model/memory.ts";

const EvaluationSet = Type.Object({
  memories: Type.Array(
    Type.Composite([
      Type.Omit(NewMemory, ["metadata"]),
      Type.Object({
        /** What evidence refers to. */
        id: Type.String(),
        /** The moment at which it is created. */
        said_at: Type.String(),
      }),
    ]),
  ),
  questions: Type.Array(
    Type.Object({
      question: Type.String(),
      /** Ids of the memories that answer it; none for a question without an answer. */
      evidence: Type.Array(Type.String()),
      category: Type.Union([Type.String(), Type.Number()]),
    }),
  ),
});

/** Memories, and questions with the memories that answer them. */
export type EvaluationSet = Static<typeof EvaluationSet>;

/** @throws Error that says what is wrong with the file */
export async function readSet(path: string): Promise<EvaluationSet> {
  const set: unknown = await Bun.file(path).json();
  const [problem] = Value.Errors(EvaluationSet, set);
  if (problem) throw new Error(`${path} at ${problem.path}: ${problem.message}`);
  const parsed = Value.Parse(EvaluationSet, set);
  const ids = new Set(parsed.memories.map(({ id }) => id));
  if (ids.size < parsed.memories.length) throw new Error(`${path}: an id comes twice`);
  for (const { question, evidence } of parsed.questions) {
    const unknown = evidence.find((id) => !ids.has(id));
    if (unknown) throw new Error(`${path}: no memory ${unknown} for "${question}"`);
  }
  return parsed;
}
