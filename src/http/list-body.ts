import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { ValueError } from "@sinclair/typebox/errors";
import { AppError } from "../errors.ts";
import { createJsonParts, TooLong } from "../json-parts.ts";
import { createPause } from "../pause.ts";
import { checkJsonType, parseBody, readLimited } from "./body.ts";
import { createCheck, MAX_DETAILS, validationError } from "./validation.ts";

/** Bytes of what is around the items: their places, and some room for what is wrong. */
const MAX_OUTLINE = 64 << 10;
/** Bytes that are looked at before others may have their turn. */
const STEP = 64 << 10;

interface Limits {
  maxItems: number;
  maxItemBytes: number;
  /** Bytes of the body. */
  maxBytes: number;
}

/**
 * Makes a reader of JSON bodies that are an object with one list of objects: `{"memories": [{…}, …]}`.
 * Each item is parsed and checked as it comes, so that neither a long body nor one that is full of
 * mistakes holds up the main thread, and reading ends with the first 20 mistakes.
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
    const turn = createPause();
    try {
      for await (const chunk of readLimited(request, maxBytes)) {
        for (let start = 0; start < chunk.length; start += STEP) {
          for (const part of parts.read(chunk.subarray(start, start + STEP))) {
            if (items.length === maxItems) throw tooMany();
            const value = parseBody(part);
            if (!shape.Check(value)) {
              early.push(...errorsAt(items.length, value));
              mistakes.add(value);
            }
            if (early.length >= MAX_DETAILS) throw validationError(early);
            items.push(value);
            await turn();
          }
          await turn();
        }
      }
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
      throw new AppError(
        "too_large",
        `An item of the body is larger than the ${maxItemBytes} bytes allowed, or what is around them is too large.`,
        { cause: error },
      );
    }
    const outline = checkOutline(parseBody(parts.outline() ?? new Uint8Array()));
    // In the outline a list stands for an item, and anything else for itself.
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
