import { JSONParser, TokenType } from "@streamparser/json";
import { CtxdError } from "../errors.ts";
import { ENTRY_LIMITS } from "./parse-json.ts";

/** Bytes of a text or number that are kept apart until it is complete. */
const BUFFER_BYTES = 1 << 16;

/** What is wrong with a JSON text, as the end of a sentence about it. */
export class JsonProblem extends CtxdError {
  readonly code = "json_problem";
}

/** A value, its key, and the names of the fields that contain it. */
type Visit = (value: unknown, key: unknown, within: readonly string[]) => void;

/**
 * Parses an untrusted JSON text while it arrives, and passes on the values at some paths, such as `$.memories.*`. Only
 * these are kept in memory. Each of them is within `ENTRY_LIMITS`.
 * @param maxLength characters that may arrive until such a value is complete
 * @param isFirst whether other text may follow the document
 */
export function createJsonStream(
  { paths, maxLength, isFirst = false }: { paths: string[]; maxLength: number; isFirst?: boolean },
  visit: Visit,
) {
  const parser = new JSONParser({
    paths,
    keepStack: false,
    stringBufferSize: BUFFER_BYTES,
    numberBufferSize: BUFFER_BYTES,
    ...(isFirst && { separator: "" }),
  });
  let [length, values, depth] = [0, 0, 0];
  parser.onToken = ({ token }) => {
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) depth++;
    else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) depth--;
    else if (token === TokenType.COMMA) values++;
    if (depth > ENTRY_LIMITS.depth) throw new JsonProblem("is nested too deeply");
    if (values > ENTRY_LIMITS.values) throw new JsonProblem("has too many values");
  };
  parser.onValue = ({ value, key, stack }) => {
    [length, values] = [0, 0];
    visit(
      value,
      key,
      stack.flatMap((each) => (typeof each.key === "string" ? each.key : [])),
    );
  };
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  const add = (text: string) => {
    // Line by line, so that an error has the number of its line.
    for (const part of text.split(/(?<=\n)/)) {
      length += part.length;
      if (part !== "") parser.write(part);
      if (length > maxLength) throw new JsonProblem("is too large");
      if (part.endsWith("\n")) line++;
    }
  };
  const explained = (read: () => void, otherwise: string) => {
    try {
      read();
    } catch (error) {
      if (error instanceof CtxdError) throw error;
      const isOtherText = error instanceof TypeError && "code" in error;
      throw new JsonProblem(isOtherText ? "is not text in UTF-8" : `${otherwise} in line ${line}`);
    }
  };

  return {
    /** Reads the next bytes. @throws JsonProblem, or what `visit` throws */
    write: (bytes: Uint8Array) =>
      explained(() => add(decoder.decode(bytes, { stream: true })), "is broken JSON"),
    /** Ends the text. @throws as `write` */
    end: () =>
      explained(() => {
        add(decoder.decode());
        if (!parser.isEnded) parser.end();
      }, "is cut off"),
  };
}
