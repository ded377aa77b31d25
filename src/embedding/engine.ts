import type { Encoding, Tokenizer } from "@anush008/tokenizers";
import type { FlagEmbedding } from "fastembed";
import type { InferenceSession as Sessions, Tensor } from "onnxruntime-node";
import { prepareInference } from "../native/inference.ts";
import { functionWordsIn } from "../text/stop-words.ts";
import { MAX_STATES, type QueryEmbedding, STATE_BYTES } from "./embedder.ts";
import type { ModelManifest, Pooling } from "./manifest.ts";
import { firstPassage, type Passage, splitPassages } from "./passages.ts";
import fitted from "./projection.json" with { type: "json" };
import { sessionOptions } from "./relations/session-options.ts";
import {
  chooseTokens,
  contentTokens,
  readScripts,
  type Token,
  tokensOf,
  understoodShare,
} from "./tokens.ts";

/** Projects a token's state to fewer numbers that still distinguish it from others. */
interface Projection {
  /** Length of an unprojected state. */
  readonly dimension: number;
  /** `STATE_BYTES` numbers for each number of a state. */
  readonly matrix: Float32Array;
  /** Subtracted from the result. */
  readonly offsets: Float32Array;
}

/** The projection that was fitted to a model's graph (see `test/eval/projection.ts`); null for other models. */
function projectionOf({ files, graph }: ModelManifest): Projection | null {
  if (files.find(({ name }) => name === graph)?.sha256 !== fitted.graph) return null;
  const numbers = new Int8Array(Buffer.from(fitted.matrix, "base64"));
  return {
    dimension: fitted.dimension,
    matrix: Float32Array.from(
      numbers,
      (number, at) => number * (fitted.scales[at % STATE_BYTES] ?? 0),
    ),
    offsets: Float32Array.from(fitted.offsets),
  };
}

/** The Euclidean norm of a projected state. */
const NORM = 127;

/**
 * Projects states and normalizes them.
 * @param states all states, concatenated
 * @param places indexes of the states to project
 * @returns `STATE_BYTES` bytes for each of them
 */
function projectStates(
  states: Float32Array,
  places: readonly number[],
  { dimension, matrix, offsets }: Projection,
): Int8Array {
  const projected = new Int8Array(places.length * STATE_BYTES);
  const sums = new Float32Array(STATE_BYTES);
  for (const [index, place] of places.entries()) {
    sums.fill(0);
    for (let at = 0; at < dimension; at++) {
      const value = states[place * dimension + at] ?? 0;
      for (let to = 0, row = at * STATE_BYTES; to < STATE_BYTES; to++) {
        sums[to] = (sums[to] ?? 0) + value * (matrix[row + to] ?? 0);
      }
    }
    let squares = 0;
    for (let to = 0; to < STATE_BYTES; to++) {
      sums[to] = (sums[to] ?? 0) - (offsets[to] ?? 0);
      squares += (sums[to] ?? 0) ** 2;
    }
    const factor = NORM / (Math.sqrt(squares) || 1);
    for (let to = 0; to < STATE_BYTES; to++) {
      projected[index * STATE_BYTES + to] = Math.round((sums[to] ?? 0) * factor);
    }
  }
  return projected;
}

/** A loaded model. A run blocks the calling thread until it ends. */
export type Engine = Awaited<ReturnType<typeof loadEngine>>;

/** Loads the model from its folder. Call it once in a thread. */
export async function loadEngine(manifest: ModelManifest, folder: string, cacheDir: string) {
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
  // By default fastembed pads and truncates every text to the window.
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
  // One text for each run: an int8 model scales its activations over all texts of a run.
  const run = async (text: string): Promise<Float32Array> => {
    for await (const [vector] of model.embed([text], 1)) return Float32Array.from(vector ?? []);
    throw new Error("fastembed returned no vector");
  };
  /**
   * @param prefix precedes the text; its tokens get no states
   * @param empty words that get no states either
   */
  const embed = async (prefix: string, text: string, max: number, empty?: ReadonlySet<string>) => {
    const whole = prefix + text;
    const vector = await run(whole);
    const tokens = tokensOf(whole, encoding, prefix.length);
    const chosen = projection ? chooseTokens(contentTokens(tokens, empty), max) : [];
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
  const maxLength = Math.floor(window / MAX_TOKENS_PER_UNIT);
  const fits = (text: string): boolean =>
    text.length <= maxLength && text.normalize("NFKC").length <= maxLength;
  return {
    /** Embeds a query, as much of it as fits the window. */
    async embedQuery(text: string): Promise<QueryEmbedding> {
      const start = fits(text) ? text : firstPassage(text, await encode(text), window);
      const { vector, tokens, chosen, numbers } = await embed(
        query,
        start,
        MAX_STATES,
        functionWordsIn(start),
      );
      const words = chosen.map(({ word }) => word);
      return { vector, states: { numbers, words }, understood: await understood(tokens) };
    },
    /** Splits a content into passages, which are embedded one by one. */
    async split(text: string): Promise<Passage[]> {
      if (fits(text)) return [{ text, start: 0 }];
      return splitPassages(text, await encode(text), { window, ...manifest.passage });
    },
    /**
     * Returns the vector of a passage, of length 1, and the states of its tokens. The result depends on the
     * text only.
     * @param max maximum number of states
     */
    async embedPassage(text: string, max: number) {
      const { vector, numbers } = await embed(content, text, max);
      return { vector, states: numbers };
    },
  };
}

/** [CLS] and [SEP]. */
const SPECIAL_TOKENS = 2;
/**
 * Tokens of a UTF-16 unit. WordPiece splits a Hangul syllable into three letters; no other character has
 * more (all of Unicode was tried). Other tokenizers first normalize a text (NFKC), which turns one
 * character into up to 18.
 */
const MAX_TOKENS_PER_UNIT = 3;

/**
 * Wraps ONNX Runtime's factory, because fastembed passes no options to it and always takes the first
 * token's state as the vector.
 * @param onStates receives the states of all tokens of a run, in order
 */
function adaptSessions(
  factory: typeof Sessions,
  pooling: Pooling,
  onStates: (states: Float32Array) => void,
): void {
  const create: (path: string, options?: Sessions.SessionOptions) => Promise<Sessions> =
    factory.create.bind(factory);
  const options = sessionOptions();
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
 * Runs a graph on one text, which needs no padding. fastembed passes all inputs of BERT, although a graph
 * may have fewer, and takes the first token of `last_hidden_state`.
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
    throw new Error("the graph's first output is not one state of 32-bit numbers for each token");
  }
  onStates(data);
  if (pooling === "first token") return { last_hidden_state: { data, dims } };
  const sum = new Float32Array(dimension);
  for (let at = 0; at < tokens * dimension; at++) {
    sum[at % dimension] = (sum[at % dimension] ?? 0) + (data[at] ?? 0);
  }
  // fastembed normalizes the vector, and the sum has the direction of the mean.
  return { last_hidden_state: { data: sum, dims: [1, 1, dimension] } };
}

/** fastembed's tokenizer, which is private. Only there can padding be switched off. */
function tokenizerOf(model: FlagEmbedding): Tokenizer {
  return (model as unknown as { tokenizer: Tokenizer }).tokenizer;
}

/** Reports the encoding of each embedded text, so that a text is not encoded twice. */
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
