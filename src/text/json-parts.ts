import { CtxdError } from "../errors.ts";

const [QUOTE, BACKSLASH, SPACE] = [0x22, 0x5c, 0x20];
const [BRACE, END_BRACE, BRACKET, END_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Depth of the list that contains the parts: a list within the outermost object. */
const PART_DEPTH = 2;

/** A part or the outline exceeds its limit. */
export class TooLong extends CtxdError {
  readonly code = "json_too_long";
}

/**
 * Splits a JSON text into parts while it arrives, so that nobody has to hold or parse the whole text.
 * Parts are the objects and lists in a list of the outermost object. The rest is the outline, in which
 * `[0]`, `[1]` and so on replace the parts. The text is valid JSON if and only if the outline and all
 * parts are.
 * @param maxPart limit of a part, in bytes
 * @param maxOutline limit of the outline, in bytes
 */
export function createJsonParts({ maxPart, maxOutline }: { maxPart: number; maxOutline: number }) {
  const changeOf = createDepthChanges();
  const outline = createOutline(maxOutline);
  let depth = 0;
  let count = 0;
  /** The bytes of the current part so far. */
  let pieces: Uint8Array[] = [];
  let partLength = 0;

  const add = (piece: Uint8Array) => {
    partLength += piece.length;
    if (partLength > maxPart) throw new TooLong("part");
    pieces.push(piece);
  };
  const endPart = (): Buffer => {
    const part = Buffer.concat(pieces);
    pieces = [];
    partLength = 0;
    for (const byte of Buffer.from(`[${count++}]`)) outline.add(byte, false);
    return part;
  };

  return {
    /**
     * Reads the next bytes of the text, and yields the parts that end in them.
     * @throws TooLong
     */
    *read(bytes: Uint8Array): Generator<Buffer> {
      let start = 0;
      for (let index = 0; index < bytes.length; index++) {
        const byte = bytes[index] ?? 0;
        const before = depth;
        depth += changeOf.next(byte);
        if (before > PART_DEPTH) {
          if (depth > PART_DEPTH) continue;
          add(bytes.subarray(start, index + 1));
          yield endPart();
        } else if (depth > PART_DEPTH) start = index;
        else outline.add(byte, changeOf.isInString());
      }
      // Copies the bytes, since the caller may reuse their memory.
      if (depth > PART_DEPTH) add(Buffer.from(bytes.subarray(start)));
    },

    /** The outline, after the whole text; null when the last part is incomplete. */
    outline: (): Buffer | null => (depth > PART_DEPTH ? null : outline.bytes()),
  };
}

/** Reads a JSON text byte by byte, and tells brackets from the characters of strings. */
function createDepthChanges() {
  let inString = false;
  let isEscaped = false;
  return {
    isInString: () => inString,
    /** 1 when this byte opens an object or a list, -1 when it closes one, otherwise 0. */
    next(byte: number): number {
      if (isEscaped) isEscaped = false;
      else if (byte === QUOTE) inString = !inString;
      else if (inString) isEscaped = byte === BACKSLASH;
      else if (byte === BRACE || byte === BRACKET) return 1;
      else if (byte === END_BRACE || byte === END_BRACKET) return -1;
      return 0;
    },
  };
}

function createOutline(limit: number) {
  const outline = Buffer.alloc(limit);
  let length = 0;
  return {
    bytes: (): Buffer => outline.subarray(0, length),
    /** @throws TooLong */
    add(byte: number, isInString: boolean) {
      if (length === limit) throw new TooLong("outline");
      // JSON allows any amount of white space: a run of it is kept as one space.
      if (byte > SPACE || isInString) outline[length++] = byte;
      else if (outline[length - 1] !== SPACE) outline[length++] = SPACE;
    },
  };
}
