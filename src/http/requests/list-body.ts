import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { ValueError } from "@sinclair/typebox/errors";
import { AppError } from "../../errors.ts";
import { createJsonParts, TooLong } from "../../text/json-parts.ts";
import { createPause } from "../../timing/pause.ts";
import { checkJsonType, parseBody, readLimited } from "./body.ts";
import { createCheck, MAX_DETAILS, validationError } from "./validation.ts";

/** Bytes of the body without its items, with some room for unexpected fields. */
const MAX_OUTLINE = 64 << 10;
/** Bytes that are parsed between two pauses. */
const STEP = 64 << 10;

interface Limits {
  maxItems: number;
  maxItemBytes: number;
  /** Bytes of the body. */
  maxBytes: number;
}

/**
 * Creates a reader of JSON bodies that hold one list of objects: `{"memories": [{…}, …]}`.
 * Each item is parsed and checked on arrival. A long body, or one with many mistakes, does not block
 * the main thread. Reading ends after 20 mistakes.
 * @throws AppError `unsupported_media_type`, `too_large`, `malformed_json` or `validation_failed`
 */
export function createListReader<Item extends TSchema>(
  name: string,
  item: Item,
  { maxItems, maxItemBytes, maxBytes }: Limits,
): (request: Request) => Promise<Record<string, Static<Item>[]>> {
  const shape = TypeCompiler.Compile(item);
  const checkOutline = createCheck(
    Type.Object(
      { [name]: Type.Array(Type.Unknown(), { minItems: 1, maxItems }) },
      { additionalProperties: false },
    ),
  );
  const errorsAt = (index: number, value: unknown): ValueError[] => {
    const errors: ValueError[] = [];
    for (const error of shape.Errors(value)) {
      errors.push({ ...error, path: `/${name}/${index}${error.path}` });
      if (errors.length === MAX_DETAILS) break;
    }
    return errors;
  };
  const tooMany = () => {
    const message = `must have at most ${maxItems} items`;
    return new AppError("validation_failed", `${name} ${message}.`, {
      details: [{ path: `/${name}`, message }],
    });
  };

  return async (request) => {
    checkJsonType(request);
    const parts = createJsonParts({ maxPart: maxItemBytes, maxOutline: MAX_OUTLINE });
    const items: unknown[] = [];
    const mistakes = new Set<unknown>();
    const early: ValueError[] = [];
    for await (const part of readItems(readLimited(request, maxBytes), parts, maxItemBytes)) {
      if (items.length === maxItems) throw tooMany();
      const value = parseBody(part);
      if (!shape.Check(value)) {
        early.push(...errorsAt(items.length, value));
        mistakes.add(value);
      }
      if (early.length >= MAX_DETAILS) throw validationError(early);
      items.push(value);
    }
    const outline = checkOutline(parseBody(parts.outline() ?? new Uint8Array()));
    // The outline has a list `[index]` in place of each item; other values are unchanged.
    const values = (outline[name] ?? []).map((each) =>
      Array.isArray(each) ? items[Number(each[0])] : each,
    );
    const errors = values.flatMap((value, index) =>
      mistakes.has(value) || typeof value !== "object" || value === null
        ? errorsAt(index, value)
        : [],
    );
    if (errors.length > 0) throw validationError(errors);
    return { [name]: values as Static<Item>[] };
  };
}

/** Reads the bytes of each item, with pauses in which other requests are served. */
async function* readItems(
  body: AsyncIterable<Uint8Array>,
  parts: ReturnType<typeof createJsonParts>,
  maxItemBytes: number,
) {
  const pause = createPause();
  try {
    for await (const chunk of body) {
      for (let start = 0; start < chunk.length; start += STEP) {
        for (const part of parts.read(chunk.subarray(start, start + STEP))) {
          yield part;
          await pause();
        }
        await pause();
      }
    }
  } catch (error) {
    if (!(error instanceof TooLong)) throw error;
    throw new AppError(
      "too_large",
      `An item of the body has more than the ${maxItemBytes} bytes allowed, or the rest of the body is too large.`,
      { cause: error },
    );
  }
}
