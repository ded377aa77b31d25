import { isObject, type JsonObject } from "../../text/parse-json.ts";
import { readText, stemOf } from "../files/input-file.ts";
import { type Block, splitBlocks, subjectOf } from "../files/markdown.ts";
import { locationIn, type TextSource } from "../files/source.ts";
import type { Format, SourceMemory } from "./format.ts";

const FRONTMATTER_MARK = "---";
/** `[category] content #tag (context)`. Not a task (`[ ]`, `[x]`) and not a link (`[a](b)`). */
const OBSERVATION = /^\[([^\]\n]{2,64})\]\s+(\S[\s\S]*)$/;
/** `relation_type [[Target]] (context)` */
const RELATION = /^([^[\]\n]*)\[\[([^\]\n]+)\]\](.*)$/;
const HASHTAG = /(?<=^|\s)#([\p{L}\p{N}_/-]+)/gu;

/**
 * A note of basic-memory: Markdown with YAML frontmatter, observations (`- [category] content #tag (context)`),
 * relations (`- relation_type [[Target]]`) and other text (https://docs.basicmemory.com/concepts/knowledge-format).
 * Notes of other programs consist of the same parts.
 */
export const basicMemory: Format = {
  name: "notes in Markdown",
  origin: "note",
  recognises: (head) => /^---\r?\n/.test(head),
  async *read(source) {
    const { lines, problems } = await readText(source);
    yield* problems;
    const { fields, bodyAt } = readFrontmatter(lines);
    if (fields === null) {
      yield { at: locationIn(source, "line 1"), problem: "has frontmatter that is not YAML" };
    }
    const body = lines.slice(bodyAt);
    const note = describeNote(source, fields ?? {}, body);
    for (const block of splitBlocks(body, { from: bodyAt + 1 })) {
      yield { at: locationIn(source, `line ${block.line}`), memory: readBlock(block, note) };
    }
  },
};

interface Note {
  title: string | null;
  /** The title that earlier versions of ctxd used. */
  formerTitle: string | null;
  tags: string[];
  metadata: JsonObject;
  createdAt: unknown;
  updatedAt: unknown;
}

/** The fields of the frontmatter: `{}` without frontmatter, null when it is not YAML. */
function readFrontmatter(lines: readonly (string | null)[]): {
  fields: JsonObject | null;
  bodyAt: number;
} {
  const end = lines[0]?.trim() === FRONTMATTER_MARK ? lines.indexOf(FRONTMATTER_MARK, 1) : -1;
  if (end < 0) return { fields: {}, bodyAt: 0 };
  try {
    const fields: unknown = Bun.YAML.parse(lines.slice(1, end).join("\n"));
    return { fields: isObject(fields) ? fields : {}, bodyAt: end + 1 };
  } catch {
    return { fields: null, bodyAt: end + 1 };
  }
}

function describeNote(
  { name, fileName = name, modifiedAt }: TextSource,
  fields: JsonObject,
  body: readonly (string | null)[],
): Note {
  const { title, permalink, type, tags, created, created_at, date, modified, updated } = fields;
  const own = typeof title === "string" ? title : null;
  const list = typeof tags === "string" ? tags.split(",") : Array.isArray(tags) ? tags : [];
  return {
    title: own ?? firstHeading(body) ?? (stemOf(fileName) || null),
    formerTitle: own ?? (stemOf(name) || null),
    tags: list.filter(isPlain).map(String),
    metadata: {
      note: isPlain(permalink) ? permalink : name || null,
      ...(isPlain(type) && { type }),
    },
    createdAt: created ?? created_at ?? date ?? modifiedAt,
    // The file's own time is no use: copying a folder changes it.
    updatedAt: modified ?? updated,
  };
}

/** The heading at the beginning of a note, which serves as its title. */
function firstHeading(body: readonly (string | null)[]): string | null {
  const first = body.find((line) => line !== null && line.trim() !== "") ?? "";
  const [, title] = /^#\s+(\S.*)$/.exec(first) ?? [];
  return title?.trim() ?? null;
}

/** Only texts and numbers are kept: through YAML aliases, nested lists can grow without limit. */
function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}

function readBlock({ text, headings, isItem }: Block, note: Note): SourceMemory {
  const { title, formerTitle, createdAt, updatedAt, metadata } = note;
  // The key contains the text of earlier versions, so that importing a note again creates no duplicate.
  const make = (content: string, formerly: string, tags: string[], more: JsonObject = {}) => ({
    content,
    tags: [...note.tags, ...tags, ...hashtagsOf(text)],
    metadata: { ...metadata, ...more },
    createdAt,
    updatedAt,
    key: JSON.stringify([metadata.note ?? null, formerly]),
  });
  const about = formerTitle === null ? "" : `${formerTitle}: `;
  const [, category, observation = ""] = (isItem && OBSERVATION.exec(text)) || [];
  if (category !== undefined) {
    const memory = make(observation, `${about}${observation}`, [category], { category });
    return { ...memory, subject: title };
  }
  const [, type, target, context] = (isItem && RELATION.exec(text)) || [];
  if (type !== undefined) {
    const relation = type.trim() || "relates_to";
    const related = `${relation.replaceAll("_", " ")} ${target}${context}`;
    const [content, formerly] = [title, formerTitle].map((name) =>
      `${name ?? ""} ${related}`.trim(),
    );
    return make(content ?? "", formerly ?? "", ["relation"], { relation, to: target });
  }
  const own = [title, headings.at(-1) ?? null].filter((tag) => tag !== null);
  return { ...make(text, text, own), subject: subjectOf([title, ...headings]) };
}

function hashtagsOf(text: string): string[] {
  return [...text.matchAll(HASHTAG)].map(([, tag]) => tag ?? "");
}
