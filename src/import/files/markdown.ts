/** A paragraph or a list item. */
export interface Block {
  /** Number of its first line. */
  line: number;
  text: string;
  /** The headings above it, outermost first. */
  headings: readonly string[];
  isItem: boolean;
}

const HEADING = /^\s{0,3}(#{1,6})\s+(\S.*)$/;
const RULE = /^\s{0,3}([-*_=])(\s*\1){2,}\s*$/;
const ITEM = /^\s*(?:[-*+•]|\d{1,9}[.)])\s+(.*)$/s;
const FENCE = /^\s*(```+|~~~+)/;

/**
 * Splits a text into paragraphs and list items. Fenced code stays in one block.
 * @param lines null for an unreadable line, which ends a paragraph
 * @param eachLine whether every line is a paragraph of its own
 * @param from number of the first line
 */
export function splitBlocks(
  lines: readonly (string | null)[],
  { eachLine = false, from = 1 }: { eachLine?: boolean; from?: number } = {},
): Block[] {
  const builder = createBlockBuilder();
  /** The mark that opened the current code block; null outside code. */
  let fence: string | null = null;
  for (const [index, line] of lines.entries()) {
    const mark = line === null ? undefined : FENCE.exec(line)?.[1];
    if (fence !== null) {
      builder.append(line ?? "");
      if (mark?.startsWith(fence)) fence = null;
      continue;
    }
    fence = mark ?? null;
    addLine(builder, line, from + index, eachLine && mark === undefined);
  }
  builder.end();
  return builder.blocks;
}

function addLine(
  builder: BlockBuilder,
  line: string | null,
  number: number,
  isOwnBlock: boolean,
): void {
  if (line === null || line.trim() === "" || RULE.test(line)) {
    builder.end();
    return;
  }
  const [, { length: level } = "", title] = HEADING.exec(line) ?? [];
  const [, item] = ITEM.exec(line) ?? [];
  if (title !== undefined) builder.addHeading(level, withoutClosing(title));
  else if (item !== undefined) builder.begin(number, item, true);
  else if (isOwnBlock || !builder.isOpen()) builder.begin(number, line, false);
  else builder.append(builder.isItem() ? line.trim() : line);
}

type BlockBuilder = ReturnType<typeof createBlockBuilder>;

/** Collects the lines of blocks, and the headings above them. */
function createBlockBuilder() {
  const blocks: Block[] = [];
  let headings: { level: number; title: string }[] = [];
  let open: { line: number; lines: string[]; isItem: boolean } | null = null;

  const end = () => {
    const { line = 0, lines = [], isItem = false } = open ?? {};
    const text = lines.join("\n").trim();
    if (text !== "") {
      blocks.push({ line, text, headings: headings.map(({ title }) => title), isItem });
    }
    open = null;
  };

  return {
    blocks,
    end,
    isOpen: () => open !== null,
    isItem: () => open?.isItem === true,
    begin(line: number, text: string, isItem: boolean): void {
      end();
      open = { line, lines: [text], isItem };
    },
    append: (line: string) => void open?.lines.push(line),
    /** A heading replaces those of its level and below. */
    addHeading(level: number, title: string): void {
      end();
      headings = [...headings.filter((heading) => heading.level < level), { level, title }];
    },
  };
}

/** Removes the closing `#` of a heading. A regular expression would take quadratic time. */
function withoutClosing(title: string): string {
  let end = title.trimEnd().length;
  while (end > 1 && title[end - 1] === "#") end--;
  return title.slice(0, end).trimEnd();
}

/** From this share of lines that begin with a lower-case letter, a text counts as one wrapped paragraph. */
const WRAPPED_SHARE = 0.4;

/**
 * Whether a text is a list with one entry per line, as people copy it. A list has no empty lines, and
 * few of its lines begin in the middle of a sentence, as those of a wrapped paragraph do.
 */
export function isLineList(lines: readonly (string | null)[]): boolean {
  const texts = lines.join("\n").trim().split("\n");
  if (texts.length < 2 || texts.some((line) => line.trim() === "")) return false;
  const continued = texts.slice(1).filter((line) => /^\s*\p{Ll}/u.test(line)).length;
  return continued / (texts.length - 1) < WRAPPED_SHARE;
}

/** The subject of a text: the titles above it, without repetitions. Null when there are none. */
export function subjectOf(titles: readonly (string | null)[]): string | null {
  const given = titles.filter((title): title is string => title !== null && title.trim() !== "");
  const different = given.filter(
    (title, at) => given.findIndex((other) => isSame(other, title)) === at,
  );
  return different.length === 0 ? null : different.join(" › ");
}

function isSame(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}
