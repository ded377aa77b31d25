import { CtxdError } from "./errors.ts";

const [QUOTE, BACKSLASH, SPACE] = [0x22, 0x5c, 0x20];
const [BRACE, END_BRACE, BRACKET, END_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Depth at which parts stand: in a list that is in the outermost object. */
const LEVEL = 2;

/** What is longer than it may be: one part, or all that is around them. */
export class TooLong extends CtxdError {
  override readonly name = "TooLong";
  readonly code = "json_too_long";
}

export type JsonParts = ReturnType<typeof createJsonParts>;

/**
 * Cuts a JSON text into parts as it comes, so that nobody has to hold and to parse all of it at once:
 * the objects and lists within a list of the outermost object. What is left is the outline, in which
 * `[0]`, `[1]` and so on stand for the parts. The text is JSON if and only if the outline and all parts
 * are.
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
  /** What has come of the part under way. */
  let pieces: Uint8Array[] = [];
  let partLength = 0;

  const keep = (byte: number) => {
    if (outlineLength === maxOutline) throw new TooLong("outline");
    // White space may be as long as it likes.
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
     * The parts that end within the next bytes of the text.
     * @throws TooLong
     */
    *read(bytes: Uint8Array): Generator<Buffer> {
      let start = 0;
      for (let index = 0; index < bytes.length; index++) {
        const byte = bytes[index] ?? 0;
        const isInPart = depth > LEVEL;
        let endsPart = false;
        if (isEscaped) isEscaped = false;
        else if (inString && byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) inString = !inString;
        else if (!inString && (byte === BRACE || byte === BRACKET)) {
          if (depth === LEVEL) start = index;
          depth++;
        } else if (!inString && (byte === END_BRACE || byte === END_BRACKET)) {
          endsPart = depth === LEVEL + 1;
          depth--;
        }
        if (endsPart) {
          add(bytes.subarray(start, index + 1));
          yield endPart();
        } else if (!isInPart && depth <= LEVEL) keep(byte);
      }
      // A copy: the memory of these bytes may be used again.
      if (depth > LEVEL) add(Buffer.from(bytes.subarray(start)));
    },

    /** What is around the parts, once all has come; null when the last part has no end. */
    outline: (): Buffer | null => (depth > LEVEL ? null : outline.subarray(0, outlineLength)),
  };
}
