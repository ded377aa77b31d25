import { CtxdError } from "./errors.ts";

const [QUOTE, BACKSLASH, SPACE] = [0x22, 0x5c, 0x20];
const [BRACE, END_BRACE, BRACKET, END_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Depth of the parts: in a list within the outermost object. */
const PART_DEPTH = 2;

/** A part, or the outline, is longer than allowed. */
export class TooLong extends CtxdError {
  override readonly name = "TooLong";
  readonly code = "json_too_long";
}

/**
 * Splits a JSON text into parts while it arrives, so that it need not be held and parsed as a whole.
 * Parts are the objects and lists in a list of the outermost object. The rest is the outline, in which
 * `[0]`, `[1]` and so on replace the parts. The text is valid JSON if and only if the outline and all
 * parts are.
 * @param maxPart bytes of a part
 * @param maxOutline bytes of the outline
 */
export function createJsonParts({ maxPart, maxOutline }: { maxPart: number; maxOutline: number }) {
  const outline = Buffer.alloc(maxOutline);
  let outlineLength = 0;
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  let count = 0;
  /** The bytes of the current part so far. */
  let pieces: Uint8Array[] = [];
  let partLength = 0;

  const keep = (byte: number) => {
    if (outlineLength === maxOutline) throw new TooLong("outline");
    // Any amount of white space is allowed: a run of it counts as one byte.
    if (byte > SPACE || inString) outline[outlineLength++] = byte;
    else if (outline[outlineLength - 1] !== SPACE) outline[outlineLength++] = SPACE;
  };
  const add = (piece: Uint8Array) => {
    partLength += piece.length;
    if (partLength > maxPart) throw new TooLong("part");
    pieces.push(piece);
  };
  const endPart = (): Buffer => {
    const part = Buffer.concat(pieces);
    pieces = [];
    partLength = 0;
    for (const byte of Buffer.from(`[${count++}]`)) keep(byte);
    return part;
  };

  return {
    /**
     * Takes the next bytes of the text, and yields the parts that end in them.
     * @throws TooLong
     */
    *read(bytes: Uint8Array): Generator<Buffer> {
      let start = 0;
      for (let index = 0; index < bytes.length; index++) {
        const byte = bytes[index] ?? 0;
        const isInPart = depth > PART_DEPTH;
        let endsPart = false;
        if (isEscaped) isEscaped = false;
        else if (inString && byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) inString = !inString;
        else if (!inString && (byte === BRACE || byte === BRACKET)) {
          if (depth === PART_DEPTH) start = index;
          depth++;
        } else if (!inString && (byte === END_BRACE || byte === END_BRACKET)) {
          endsPart = depth === PART_DEPTH + 1;
          depth--;
        }
        if (endsPart) {
          add(bytes.subarray(start, index + 1));
          yield endPart();
        } else if (!isInPart && depth <= PART_DEPTH) keep(byte);
      }
      // Copies the bytes, since the caller may reuse their memory.
      if (depth > PART_DEPTH) add(Buffer.from(bytes.subarray(start)));
    },

    /** The outline, after the whole text; null when the last part is incomplete. */
    outline: (): Buffer | null => (depth > PART_DEPTH ? null : outline.subarray(0, outlineLength)),
  };
}
