import { availableParallelism } from "node:os";
import type { Encoding, Tokenizer } from "@anush008/tokenizers";
import type { FlagEmbedding } from "fastembed";
import type { InferenceSession as Sessions, Tensor } from "onnxruntime-node";
import { prepareInference } from "../native/inference.ts";
import { MAX_STATES, type QueryEmbedding } from "./embedder.ts";
import type { ModelManifest, Pooling } from "./manifest.ts";
import { firstPassage, type Passage, splitPassages } from "./passages.ts";
import { projectionOf, projectStates } from "./projection.ts";
import { readScripts, understoodShare } from "./scripts.ts";
import { chooseTokens, contentTokens, type Token, tokensOf } from "./tokens.ts";

/** A loaded model. Everything runs on the calling thread, which a run blocks until it is done. */
export interface Engine {
  /** Embeds a question, as much of it as the window holds. */
  embedQuery(text: string): Promise<QueryEmbedding>;
  /** The passages of a content, to be embedded one after the other. */
  split(text: string): Promise<Passage[]>;
  /**
   * The vector of one passage, of length 1, and the states of its tokens. The same text always has
   * the same.
   * @param most states
   */
  embedPassage(text: string, most: number): Promise<{ vector: Float32Array; states: Int8Array }>;
}

/** Loads the model from its folder. To be called once in the life of a thread. */
export async function loadEngine(
  manifest: ModelManifest,
  folder: string,
  cacheDir: string,
): Promise<Engine> {
  await prepareInference(cacheDir);
  const { InferenceSession } = await import("onnxruntime-node");
  let states: Float32Array = new Float32Array(0);
  adaptSessions(InferenceSession, manifest.pooling, (last) => {
    states = last;
  });
  const { EmbeddingModel, FlagEmbedding } = await import("fastembed");
  const model = await FlagEmbedding.init({
    model: EmbeddingModel.CUSTOM,
    modelAbsoluteDirPath: folder,
    modelName: manifest.graph,
    maxLength: manifest.window,
  });
  const tokenizer = tokenizerOf(model);
  // fastembed pads every text to the window and cuts it off there, both in silence.
  tokenizer.disablePadding();
  tokenizer.disableTruncation();
  let scripts: Promise<ReadonlySet<number>> | null = null;
  let encoding = await tokenizer.encode("");
  observeEncodings(model, tokenizer, (last) => {
    encoding = last;
  });
  const projection = projectionOf(manifest);

  const encode = (text: string): Promise<Encoding> =>
    tokenizer.encode(text, null, { addSpecialTokens: false });
  // Activations of an int8 model are scaled per run: one text a run, or its neighbours move it.
  const run = async (text: string): Promise<Float32Array> => {
    for await (const [vector] of model.embed([text], 1)) return Float32Array.from(vector ?? []);
    throw new Error("fastembed returned no vector");
  };
  /** @param prefix comes before the text, and its tokens do not count */
  const read = async (prefix: string, text: string, most: number) => {
    const whole = prefix + text;
    const vector = await run(whole);
    const tokens = tokensOf(whole, encoding, prefix.length);
    const chosen = projection ? chooseTokens(contentTokens(tokens), most) : [];
    const places = chosen.map(({ place }) => place);
    const numbers = projection ? projectStates(states, places, projection) : new Int8Array(0);
    return { vector, tokens, chosen, numbers };
  };
  const understood = (tokens: readonly Token[]) =>
    understoodShare(tokens, () => {
      scripts ??= readScripts(folder);
      return scripts;
    });

  const { query, content } = manifest.prefixes;
  const prefix = Math.max((await encode(query)).getLength(), (await encode(content)).getLength());
  const window = manifest.window - SPECIAL_TOKENS - prefix;
  const most = Math.floor(window / MOST_TOKENS_OF_A_UNIT);
  const fits = (text: string): boolean =>
    text.length <= most && text.normalize("NFKC").length <= most;
  return {
    async embedQuery(text) {
      const start = fits(text) ? text : firstPassage(text, await encode(text), window);
      const { vector, tokens, chosen, numbers } = await read(query, start, MAX_STATES);
      const words = chosen.map(({ word }) => word);
      return { vector, states: { numbers, words }, understood: await understood(tokens) };
    },
    async split(text) {
      if (fits(text)) return [{ text, start: 0 }];
      return splitPassages(text, await encode(text), { window, ...manifest.passage });
    },
    async embedPassage(text, most) {
      const { vector, numbers } = await read(content, text, most);
      return { vector, states: numbers };
    },
  };
}

/** [CLS] and [SEP]. */
const SPECIAL_TOKENS = 2;
/**
 * WordPiece takes a Hangul syllable apart into three letters; nothing in Unicode becomes more (all were
 * tried). Other tokenizers compose a text first (NFKC), which makes up to 18 letters of one.
 */
const MOST_TOKENS_OF_A_UNIT = 3;

/**
 * Wraps ONNX Runtime's factory, since fastembed has no way to pass options through, and gives every
 * graph the first token's state as its vector. Measured on two cores: short texts gain nothing from
 * a second thread (3.5 ms both ways), 500 words do (101 → 55 ms), and threads that spin while they
 * wait triple the time of a short text when the other core is busy. The memory arena keeps for ever
 * what the longest text needed; without it nothing is slower.
 * @param onStates is told of what a run gives for each token, one after the other
 */
function adaptSessions(
  factory: typeof Sessions,
  pooling: Pooling,
  onStates: (states: Float32Array) => void,
): void {
  const create: (path: string, options?: Sessions.SessionOptions) => Promise<Sessions> =
    factory.create.bind(factory);
  const options: Sessions.SessionOptions = {
    intraOpNumThreads: availableParallelism() >= 4 ? 2 : 1,
    interOpNumThreads: 1,
    executionMode: "sequential",
    enableCpuMemArena: false,
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  };
  Object.assign(factory, {
    async create(path: string, given?: Sessions.SessionOptions) {
      const session = await create(path, { ...given, ...options });
      return {
        run: (inputs: Record<string, Tensor>) => runPooled(session, inputs, pooling, onStates),
      };
    },
  });
}

/**
 * Runs a graph on one text, so without padding. fastembed gives all inputs that BERT has, of which
 * a graph may know fewer, and takes the first token of `last_hidden_state`.
 */
async function runPooled(
  session: Sessions,
  inputs: Record<string, Tensor>,
  pooling: Pooling,
  onStates: (states: Float32Array) => void,
) {
  const known = Object.entries(inputs).filter(([name]) => session.inputNames.includes(name));
  const outputs = await session.run(Object.fromEntries(known));
  const states = outputs.last_hidden_state ?? outputs[session.outputNames[0] ?? ""];
  const { data, dims } = states ?? { data: null, dims: [] };
  const [texts, tokens = 0, dimension = 0] = dims;
  if (!(data instanceof Float32Array) || dims.length !== 3 || texts !== 1) {
    throw new Error("the graph's first output is not one state (of 32-bit numbers) for each token");
  }
  onStates(data);
  if (pooling === "first token") return { last_hidden_state: { data, dims } };
  const sum = new Float32Array(dimension);
  for (let at = 0; at < tokens * dimension; at++) {
    sum[at % dimension] = (sum[at % dimension] ?? 0) + (data[at] ?? 0);
  }
  // Its length is made 1 afterwards: a sum points where the mean does.
  return { last_hidden_state: { data: sum, dims: [1, 1, dimension] } };
}

/** fastembed keeps its tokenizer to itself; padding can be turned off nowhere else. */
function tokenizerOf(model: FlagEmbedding): Tokenizer {
  return (model as unknown as { tokenizer: Tokenizer }).tokenizer;
}

/** Is told of the tokens of each text that is embedded, so that they need not be looked for twice. */
function observeEncodings(
  model: FlagEmbedding,
  tokenizer: Tokenizer,
  onEncoding: (encoding: Encoding) => void,
): void {
  const encode = async (text: string): Promise<Encoding> => {
    const encoding = await tokenizer.encode(text);
    onEncoding(encoding);
    return encoding;
  };
  Object.assign(model, { tokenizer: { encode } });
}
