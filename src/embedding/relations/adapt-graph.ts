/** Where the bytes of a graph's constant lie. */
interface Place {
  start: number;
  end: number;
}

export interface Tensor {
  /** Rows and columns. */
  shape: readonly [rows: number, columns: number];
  values: Float64Array;
}

/** What the header says of a tensor of 16-bit numbers; the header's own entry has neither. */
interface TensorHeader {
  shape?: Tensor["shape"];
  /** The first byte and the one after the last. */
  data_offsets?: [start: number, end: number];
}

/** Field numbers of ONNX (onnx.proto): what leads to the bytes of a graph's constants. */
const GRAPH = 7;
const INITIALIZER = 5;
const TENSOR = { floats: 4, name: 8, bytes: 9 };
/** Kinds of fields in Protocol Buffers. */
const WIRE = { varint: 0, bits64: 1, bytes: 2, bits32: 5 };

/** The largest number of a weight: processors without VNNI add two products of bytes in 16 bits, and more would overflow. */
const LARGEST = 64;

/**
 * Adds what was learned (see `test/eval/relations` and `test/eval/adapt`) to the weights of an int8 graph: to each matrix the product of its two
 * factors, then it is quantized again, a scale for each column. The graph keeps its size. Additions come in a fixed order,
 * so that the bytes are the same on every machine.
 * @param graph an ONNX graph whose matrices have the symmetric scale of a column
 * @param adaptation the factors in the format of safetensors, by the names of the matrices
 * @throws Error when a matrix is not in the graph or has another size
 */
export function adaptGraph(graph: Uint8Array, adaptation: Uint8Array): Uint8Array {
  const adapted = new Uint8Array(graph);
  const places = initializersOf(adapted);
  const tensors = readTensors(adaptation);
  for (const [key, down] of tensors) {
    const name = key.replace(/\.down$/, "");
    if (name === key) continue;
    const up = tensors.get(`${name}.up`);
    const matrix = places.get(`${name}_quantized`)?.bytes;
    const scales = places.get(`${name}_scale`)?.floats;
    if (!up || !matrix || !scales) throw new Error(`the graph has no matrix ${name}`);
    const [rows, columns] = [down.shape[0], up.shape[1]];
    if (matrix.end - matrix.start !== rows * columns || scales.end - scales.start !== 4 * columns) {
      throw new Error(`the graph's matrix ${name} is not ${rows} × ${columns}`);
    }
    const numbers = new Int8Array(adapted.buffer, matrix.start, rows * columns);
    const scale = new DataView(adapted.buffer, scales.start, 4 * columns);
    const old = Float64Array.from({ length: columns }, (_, at) => scale.getFloat32(4 * at, true));
    const { weights, largest } = addProduct(numbers, old, { down, up });
    const next = largest.map((most) => Math.fround(most / LARGEST) || 1);
    for (const [at, value] of next.entries()) scale.setFloat32(4 * at, value, true);
    for (let at = 0; at < numbers.length; at++) {
      const number = Math.round((weights[at] ?? 0) / (next[at % columns] ?? 1));
      numbers[at] = Math.max(-LARGEST, Math.min(LARGEST, number));
    }
  }
  return adapted;
}

/** A matrix with what was learned, and the largest of each of its columns. */
function addProduct(
  numbers: Int8Array,
  scales: Float64Array,
  { down, up }: { down: Tensor; up: Tensor },
): { weights: Float64Array; largest: Float64Array } {
  const [[rows, rank], [, columns]] = [down.shape, up.shape];
  const weights = new Float64Array(numbers.length);
  const largest = new Float64Array(columns);
  for (let row = 0; row < rows; row++) {
    const first = row * columns;
    for (let column = 0; column < columns; column++) {
      weights[first + column] = (numbers[first + column] ?? 0) * (scales[column] ?? 0);
    }
    for (let at = 0; at < rank; at++) {
      const factor = down.values[row * rank + at] ?? 0;
      for (let column = 0; column < columns; column++) {
        weights[first + column] =
          (weights[first + column] ?? 0) + factor * (up.values[at * columns + column] ?? 0);
      }
    }
    for (let column = 0; column < columns; column++) {
      const size = Math.abs(weights[first + column] ?? 0);
      if (size > (largest[column] ?? 0)) largest[column] = size;
    }
  }
  return { weights, largest };
}

/** The tensors of a file of the format safetensors: the length of a header in JSON, the header, the numbers. */
export function readTensors(file: Uint8Array): Map<string, Tensor> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const data = 8 + Number(view.getBigUint64(0, true));
  const header: Record<string, TensorHeader> = JSON.parse(
    new TextDecoder().decode(file.subarray(8, data)),
  );
  const tensors = new Map<string, Tensor>();
  for (const [name, { shape, data_offsets: offsets }] of Object.entries(header)) {
    if (!shape || !offsets) continue;
    // A copy, because the numbers must lie at an even address.
    const bytes = new Uint8Array(file.subarray(data + offsets[0], data + offsets[1]));
    tensors.set(name, { shape, values: Float64Array.from(new Float16Array(bytes.buffer)) });
  }
  return tensors;
}

/** Where the constants of a graph lie, by name. */
function initializersOf(
  graph: Uint8Array,
): Map<string, Partial<Record<"bytes" | "floats", Place | undefined>>> {
  const found = new Map<string, Partial<Record<"bytes" | "floats", Place | undefined>>>();
  for (const model of fieldsOf(graph, { start: 0, end: graph.byteLength })) {
    if (model.field !== GRAPH) continue;
    for (const tensor of fieldsOf(graph, model)) {
      if (tensor.field !== INITIALIZER) continue;
      const parts = new Map<number, Place>();
      for (const part of fieldsOf(graph, tensor)) parts.set(part.field, part);
      const name = parts.get(TENSOR.name);
      if (!name) continue;
      const text = new TextDecoder().decode(graph.subarray(name.start, name.end));
      found.set(text, { bytes: parts.get(TENSOR.bytes), floats: parts.get(TENSOR.floats) });
    }
  }
  return found;
}

/** The fields of a message that hold bytes. */
function* fieldsOf(data: Uint8Array, { start, end }: Place): Generator<Place & { field: number }> {
  let at = start;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = data[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < end) {
    const tag = varint();
    const wire = tag % 8;
    if (wire === WIRE.varint) varint();
    else if (wire === WIRE.bits64) at += 8;
    else if (wire === WIRE.bits32) at += 4;
    else if (wire === WIRE.bytes) {
      const length = varint();
      yield { field: Math.floor(tag / 8), start: at, end: at + length };
      at += length;
    } else throw new Error(`the graph has an unknown kind of field: ${wire}`);
  }
}
