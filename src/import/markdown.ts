/** A paragraph or a list item. */
export interface Block {
  /** Number of its first line. */
  line: number;
  text: string;
  /** The headings above it, from the outermost. */
  headings: readonly string[];
  isItem: boolean;
}

const HEADING = /^\s{0,3}(#{1,6})\s+(\S.*)$/;
const RULE = /^\s{0,3}([-*_=])(\s*\1){2,}\s*$/;
const ITEM = /^\s*(?:[-*+•]|\d{1,9}[.)])\s+(.*)$/;
const FENCE = /^\s*(```+|~~~+)/;

/**
 * Cuts a text into its paragraphs and list items. Code between fences stays together.
 * @param lines null for one that can't be read, which ends a paragraph
 * @param eachLine whether every line is a paragraph of its own
 */
export function splitBlocks(
  lines: readonly (string | null)[],
  { eachLine = false, from = 1 }: { eachLine?: boolean; from?: number } = {},
): Block[] {
  const blocks: Block[] = [];
  /** By level: what is below a heading ends with the next one of its level or above. */
  let above: { level: number; title: string }[] = [];
  const open: { block: Open } = { block: null };
  let fence: string | null = null;

  const end = () => {
    const { line = 0, lines = [], isItem = false } = open.block ?? {};
    const text = lines.join("\n").trim();
    if (text !== "") {
      blocks.push({ line, text, headings: above.map(({ title }) => title), isItem });
    }
    open.block = null;
  };
  const begin = (index: number, text: string, isItem: boolean) => {
    end();
    open.block = { line: from + index, lines: [text], isItem };
  };

  for (const [index, line] of lines.entries()) {
    const mark = line === null ? undefined : FENCE.exec(line)?.[1];
    if (fence !== null) {
      open.block?.lines.push(line ?? "");
      if (mark?.startsWith(fence)) fence = null;
      continue;
    }
    if (line === null || line.trim() === "" || RULE.test(line)) {
      end();
      continue;
    }
    const [, { length: level } = "", title] = HEADING.exec(line) ?? [];
    if (title !== undefined) {
      end();
      above = [
        ...above.filter((heading) => heading.level < level),
        { level, title: withoutClosing(title) },
      ];
      continue;
    }
    const [, item] = ITEM.exec(line) ?? [];
    if (item !== undefined) begin(index, item, true);
    else if (open.block === null || (eachLine && mark === undefined)) begin(index, line, false);
    else open.block.lines.push(open.block.isItem ? line.trim() : line);
    if (mark !== undefined) fence = mark;
  }
  end();
  return blocks;
}

/** A heading's text without the `#` that may close it. By hand: a pattern takes the square of its length. */
function withoutClosing(title: string): string {
  let end = title.trimEnd().length;
  while (end > 1 && title[end - 1] === "#") end--;
  return title.slice(0, end).trimEnd();
}

type Open = { line: number; lines: string[]; isItem: boolean } | null;

const WRAPPED = 0.4;

/**
 * Whether a text is a list as people copy it, with one entry a line: without an empty line in it,
 * and not one paragraph that was wrapped, whose lines begin in the middle of a sentence.
 */
export function isLineList(lines: readonly (string | null)[]): boolean {
  const texts = lines.join("\n").trim().split("\n");
  if (texts.length < 2 || texts.some((line) => line.trim() === "")) return false;
  const goOn = texts.slice(1).filter((line) => /^\s*\p{Ll}/u.test(line)).length;
  return goOn / (texts.length - 1) < WRAPPED;
}

/** What a text is about: the titles above it, each said once. Null without any. */
export function subjectOf(titles: readonly (string | null)[]): string | null {
  const said = titles.filter((title): title is string => title !== null && title.trim() !== "");
  const different = said.filter(
    (title, at) => said.findIndex((other) => isSame(other, title)) === at,
  );
  return different.length === 0 ? null : different.join(" › ");
}

function isSame(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}
