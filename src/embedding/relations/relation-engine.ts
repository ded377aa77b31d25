import type { Tokenizer as Tokenizers } from "@anush008/tokenizers";
import { prepareInference } from "../../native/inference.ts";
import type { Tensor } from "./adapt-graph.ts";
import type { Relation } from "./relater.ts";
import { prepareRelationModel } from "./relation-model.ts";
import { sessionOptions } from "./session-options.ts";

/** The most tokens of a text. A longer one is refused, since what differs after a cut would not count. It learned from up to 96. */
const MAX_TOKENS = 128;

/** A loaded model of relations. A run blocks the calling thread until it ends. */
export type RelationEngine = Awaited<ReturnType<typeof loadRelationEngine>>;

/** Loads the model of relations. Call it once in a thread. */
export async function loadRelationEngine(cacheDir: string) {
  await prepareInference(cacheDir);
  const { graph, tokenizer: path, head } = await prepareRelationModel(cacheDir);
  const [{ InferenceSession, Tensor }, { Tokenizer }] = await Promise.all([
    import("onnxruntime-node"),
    import("@anush008/tokenizers"),
  ]);
  const session = await InferenceSession.create(graph, sessionOptions());
  const tokenizer: Tokenizers = Tokenizer.fromFile(path);
  tokenizer.disablePadding();
  tokenizer.disableTruncation();

  const tokensOf = async (text: string): Promise<number[]> =>
    (await tokenizer.encode(text)).getIds();

  return {
    /** What a later text is to an earlier one, or a memory to a question; null when one is too long. */
    async relate(earlier: string, later: string): Promise<Relation | null> {
      const [one, [, ...other]] = [await tokensOf(earlier), await tokensOf(later)];
      if (Math.max(one.length, other.length) > MAX_TOKENS) return null;
      const ids = [...one, ...other];
      const tensor = (values: readonly number[]) =>
        new Tensor("int64", BigInt64Array.from(values, BigInt), [1, ids.length]);
      const { last_hidden_state: states } = await session.run({
        input_ids: tensor(ids),
        attention_mask: tensor(ids.map(() => 1)),
        token_type_ids: tensor(ids.map((_, at) => (at < one.length ? 0 : 1))),
      });
      if (!(states?.data instanceof Float32Array)) throw new Error("the graph gave no states");
      return chancesOf(states.data, head);
    },
  };
}

/** The chances by the state of the first token. */
function chancesOf(
  states: Float32Array,
  { weights, bias }: Record<"weights" | "bias", Tensor>,
): Relation {
  const [kinds, dimension] = weights.shape;
  const odds = Array.from({ length: kinds }, (_, kind) => {
    let sum = bias.values[kind] ?? 0;
    for (let at = 0; at < dimension; at++) {
      sum += (weights.values[kind * dimension + at] ?? 0) * (states[at] ?? 0);
    }
    return Math.exp(sum);
  });
  const [other = 0, changed = 0, same = 0, answers = 0] = odds;
  const all = other + changed + same;
  return { same: same / all, changed: changed / all, answers: answers / (1 + answers) };
}
