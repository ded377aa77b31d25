import { type AST, getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";
import { ConnectError } from "./connect-error.ts";
import { type Format, lineBreakOf, nextLine, withLastBreak } from "./format.ts";
import { renderToml } from "./render.ts";

/** TOML. An entry is a table with its own header, the form that clients write. */
export const tomlFormat: Format = {
  read: (text) => getStaticTOMLValue(parseText(text)),

  write(text, table, name, entry) {
    const path = [table, name];
    const [first, ...others] = tablesOf(parseText(text), path);
    const eol = lineBreakOf(text);
    const lines = entry === null ? "" : renderToml(path, entry).replaceAll("\n", eol);
    if (!first) {
      if (entry === null) return text;
      return text.trim() === "" ? lines : withLastBreak(text) + eol + lines;
    }
    const rest = others.reduceRight(cutTable, text);
    if (entry === null) return cutTable(rest, first);
    const [start, end] = first.range;
    return rest.slice(0, start) + lines + rest.slice(nextLine(rest, end));
  },
};

function parseText(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const problem = error.message.toLowerCase();
    throw new ConnectError(`is not valid TOML (line ${error.lineNumber}: ${problem})`);
  }
}

/** The tables at a path and below it, in the order of the text. */
function tablesOf(program: AST.TOMLProgram, path: readonly string[]): AST.TOMLTable[] {
  return program.body[0].body
    .filter((node) => node.type === "TOMLTable")
    .filter(({ resolvedKey }) => path.every((key, index) => resolvedKey[index] === key));
}

/** Removes a table and the empty line before it. */
function cutTable(text: string, { range: [start, end] }: AST.TOMLTable): string {
  const before = text.slice(0, start).replace(/(^|\n)\r?\n$/, "$1");
  return before + text.slice(nextLine(text, end));
}
