import type { Format, Found, SourceMemory } from "./format.ts";
import { isObject, type JsonObject } from "./json-lines.ts";
import { type Block, splitBlocks } from "./markdown.ts";
import { placeIn, type TextSource } from "./source.ts";
import { readText } from "./text-file.ts";

const LIMIT = "---";
/** `[category] content #tag (context)`; `[ ]` and `[x]` are tasks, `[a](b)` is a link. */
const OBSERVATION = /^\[([^\]\n]{2,64})\]\s+(\S[\s\S]*)$/;
/** `relation_type [[Target]] (context)` */
const RELATION = /^([^[\]\n]*)\[\[([^\]\n]+)\]\](.*)$/;
const HASHTAG = /(?<=^|\s)#([\p{L}\p{N}_/-]+)/gu;

/**
 * A note of basic-memory: Markdown with YAML frontmatter, observations (`- [category] content #tag
 * (context)`), relations (`- relation_type [[Target]]`) and other text
 * (https://docs.basicmemory.com/concepts/knowledge-format). Other folders of Markdown notes have the
 * same parts.
 */
export const basicMemory: Format = {
  name: "a note of basic-memory",
  origin: "note",
  recognises: (head) => /^---\r?\n/.test(head),
  async *read(source) {
    const { lines, problems } = await readText(source);
    yield* problems;
    const { fields, bodyAt } = readFrontmatter(lines);
    if (fields === null) {
      yield { at: placeIn(source, "line 1"), problem: "has frontmatter that is not YAML" };
    }
    const note = describeNote(source, fields ?? {});
    for (const block of splitBlocks(lines.slice(bodyAt), { from: bodyAt + 1 })) {
      yield { at: placeIn(source, `line ${block.line}`), memory: readBlock(block, note) } as Found;
    }
  },
};

interface Note {
  title: string | null;
  tags: string[];
  metadata: JsonObject;
  createdAt: unknown;
  updatedAt: unknown;
}

/** The fields at the top, `{}` without any and null when they can't be read. */
function readFrontmatter(lines: readonly (string | null)[]): {
  fields: JsonObject | null;
  bodyAt: number;
} {
  const end = lines[0]?.trim() === LIMIT ? lines.indexOf(LIMIT, 1) : -1;
  if (end < 0) return { fields: {}, bodyAt: 0 };
  try {
    const fields: unknown = Bun.YAML.parse(lines.slice(1, end).join("\n"));
    return { fields: isObject(fields) ? fields : {}, bodyAt: end + 1 };
  } catch {
    return { fields: null, bodyAt: end + 1 };
  }
}

function describeNote({ name, modifiedAt }: TextSource, fields: JsonObject): Note {
  const { title, permalink, type, tags, created, created_at, date, modified, updated } = fields;
  const stem =
    name
      .split("/")
      .at(-1)
      ?.replace(/\.\w+$/, "") || null;
  const list = typeof tags === "string" ? tags.split(",") : Array.isArray(tags) ? tags : [];
  return {
    title: typeof title === "string" ? title : stem,
    tags: list.filter(isPlain).map(String),
    metadata: {
      note: isPlain(permalink) ? permalink : name || null,
      ...(isPlain(type) && { type }),
    },
    createdAt: created ?? created_at ?? date ?? modifiedAt,
    // That of the file says nothing: copying a folder changes it.
    updatedAt: modified ?? updated,
  };
}

/** Lists within lists may be without end, written out: YAML names a part and repeats it by that. */
function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}

function readBlock({ text, heading, isItem }: Block, note: Note): SourceMemory {
  const { title, createdAt, updatedAt, metadata } = note;
  const make = (content: string, tags: string[], more: JsonObject = {}): SourceMemory => ({
    content,
    tags: [...note.tags, ...tags, ...hashtagsOf(text)],
    metadata: { ...metadata, ...more },
    createdAt,
    updatedAt,
    key: JSON.stringify([metadata.note ?? null, content]),
  });
  const about = title === null ? "" : `${title}: `;
  const [, category, observation] = (isItem && OBSERVATION.exec(text)) || [];
  if (category !== undefined) return make(`${about}${observation}`, [category], { category });
  const [, type, target, context] = (isItem && RELATION.exec(text)) || [];
  if (type !== undefined) {
    const relation = type.trim() || "relates_to";
    const content = `${title ?? ""} ${relation.replaceAll("_", " ")} ${target}${context}`.trim();
    return make(content, ["relation"], { relation, to: target });
  }
  const own = [title, heading].filter((tag) => tag !== null);
  return make(text, own);
}

function hashtagsOf(text: string): string[] {
  return [...text.matchAll(HASHTAG)].map(([, tag]) => tag ?? "");
}
