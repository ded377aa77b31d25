import { join } from "node:path";
import { Glob } from "bun";
import { SOURCE } from "./source-files.ts";

/** A regular expression of the sources. */
export interface Found {
  /** Below src. */
  path: string;
  expression: RegExp;
}

/** After these words a slash begins an expression, and after other words it divides. */
const BEFORE_EXPRESSION =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|new|yield|await)$/;
const DIVIDEND = /[\w$)\]}"'`]$/;

/** The place after a text in quotes, which begins at `start`. */
function endOfText(code: string, start: number): number {
  const quote = code[start];
  let at = start + 1;
  while (at < code.length && code[at] !== quote) at += code[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** The place after the slash that ends the expression at `start`. In a class a slash ends nothing. */
function endOfExpression(code: string, start: number): number {
  let isInClass = false;
  for (let at = start + 1; at < code.length; at++) {
    const character = code[at];
    if (character === "\\") at++;
    else if (character === "[") isInClass = true;
    else if (character === "]") isInClass = false;
    else if (character === "/" && !isInClass) return at + 1;
  }
  throw new Error(`no expression: ${code.slice(start, start + 80)}`);
}

/** The expressions in JavaScript without comments. */
export function literalsOf(code: string): RegExp[] {
  const found: RegExp[] = [];
  /** For each open brace whether it is in a template, which continues after it. */
  const braces: boolean[] = [];
  let at = 0;
  const skipTemplate = () => {
    while (at < code.length && code[at] !== "`") {
      if (code[at] === "$" && code[at + 1] === "{") {
        braces.push(true);
        at += 2;
        return;
      }
      at += code[at] === "\\" ? 2 : 1;
    }
    at++;
  };
  while (at < code.length) {
    const character = code[at];
    const before = code.slice(Math.max(0, at - 40), at).trimEnd();
    if (character === '"' || character === "'") at = endOfText(code, at);
    else if (character === "`") {
      at++;
      skipTemplate();
    } else if (character === "{") {
      braces.push(false);
      at++;
    } else if (character === "}") {
      at++;
      if (braces.pop()) skipTemplate();
    } else if (character === "/" && (!DIVIDEND.test(before) || BEFORE_EXPRESSION.test(before))) {
      const end = endOfExpression(code, at);
      const flags = /^[a-z]*/.exec(code.slice(end, end + 10))?.[0] ?? "";
      found.push(new RegExp(code.slice(at + 1, end - 1), flags));
      at = end + flags.length;
    } else at++;
  }
  return found;
}

/** The JavaScript of a source, without comments, types and JSX. */
function compile(path: string, text: string): string {
  const loader = path.endsWith("x") ? "tsx" : path.endsWith(".ts") ? "ts" : "js";
  return new Bun.Transpiler({ loader, deadCodeElimination: false }).transformSync(text);
}

/** The patterns of schemas, which are texts. */
function patternsOf(code: string): RegExp[] {
  return [...code.matchAll(/\bpattern: ("(?:[^"\\\n]|\\.)*")/g)].map(
    ([, text = ""]) => new RegExp(JSON.parse(text), "u"),
  );
}

/** All expressions that the sources write down, and the files that build others. */
export async function findExpressions(): Promise<{ written: Found[]; builders: string[] }> {
  const paths = await Array.fromAsync(new Glob("**/*.{ts,tsx,js}").scan(SOURCE));
  const own = paths.filter((path) => !path.includes("node_modules") && !path.endsWith(".d.ts"));
  const written: Found[] = [];
  const builders: string[] = [];
  for (const path of own.sort()) {
    const code = compile(path, await Bun.file(join(SOURCE, path)).text());
    const found = [...literalsOf(code), ...patternsOf(code)];
    written.push(...found.map((expression) => ({ path, expression })));
    if (/\bRegExp\(/.test(code)) builders.push(path);
  }
  return { written, builders };
}

/** The expressions that some work builds by `new RegExp`. */
export async function builtBy(work: () => unknown): Promise<RegExp[]> {
  const built: RegExp[] = [];
  const Original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(Original, {
    construct(target, args, newTarget) {
      const expression: RegExp = Reflect.construct(target, args, newTarget);
      built.push(expression);
      return expression;
    },
  });
  try {
    await work();
  } finally {
    globalThis.RegExp = Original;
  }
  return built;
}
