import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchOperation,
} from "@langchain/langgraph";
import type { Client } from "../client.ts";
import type { FoundMemory, Memory } from "../types.ts";
import { createNamedMemories, type NamedContent, type NamedMemories } from "./named.ts";

/** The field `metadata.langgraph` of a memory: an item without the field that became its text. */
interface Kept {
  namespace: string[];
  key: string;
  /** The field that became the memory's text. Without it, the text is the value as JSON. */
  field?: string;
  value?: Item["value"];
}

interface Found extends Item {
  score?: number;
}

/** Fields that may become the text: the first one that a value has. */
const TEXT_FIELDS = ["content", "text", "memory", "data"];
/** Bytes of `metadata` as JSON. */
const MAX_METADATA_BYTES = 4_096;
/** Search results to which a filter is applied. */
const MAX_RANKED = 100;
const AT_ONCE = 8;
const ROOT = "langgraph";

/**
 * A LangGraph store whose items are memories. Other agents find the items, users see them in the
 * dashboard, and searches by meaning need no embedding model of your own. The text of a value
 * (`content`, `text`, `memory` or `data`, or the field that `index` names) becomes the memory's text. A
 * value without text is stored as JSON.
 *
 * A search with `query` and a filter considers the best 100 items. A search without `query` returns the
 * newest items first. All items can be searched: `index: false` has no effect.
 */
export class CtxdStore extends BaseStore {
  readonly #items: NamedMemories;

  constructor(client: Client) {
    super();
    this.#items = createNamedMemories(client);
  }

  override async batch<Op extends readonly Operation[]>(
    operations: Op,
  ): Promise<OperationResults<Op>> {
    for (const operation of operations) checkNamespace(operation);
    const results = await inChunks(operations, (operation): Promise<unknown> => {
      if ("value" in operation) return Promise.resolve();
      if ("namespacePrefix" in operation) return this.#search(operation);
      if ("key" in operation) return this.#get(operation);
      return this.#listNamespaces(operation);
    });
    // Reads of a batch see the state before its writes. Of two writes to an item, the last one wins.
    const writes = new Map<string, PutOperation>();
    for (const operation of operations) {
      if ("value" in operation) writes.set(nameOf(operation), operation);
    }
    await inChunks([...writes.values()], (operation) => this.#write(operation));
    return results as OperationResults<Op>;
  }

  async #get(operation: GetOperation): Promise<Item | null> {
    const memory = await this.#items.find(nameOf(operation));
    return memory && toItem(memory);
  }

  async #write(operation: PutOperation): Promise<void> {
    const name = nameOf(operation);
    if (operation.value === null) await this.#items.delete([name]);
    else await this.#items.put(name, groupsOf(operation), toContent(operation));
  }

  async #search(operation: SearchOperation): Promise<Found[]> {
    const { namespacePrefix, filter = {}, limit = 10, offset = 0, query } = operation;
    const group = groupOf(namespacePrefix);
    const isFiltered = Object.keys(filter).length > 0;
    const memories = query
      ? await this.#items.search(group, query, isFiltered ? MAX_RANKED : offset + limit)
      : this.#items.list([group]);
    const found: Found[] = [];
    for await (const memory of memories) {
      const item = toItem(memory);
      if (item && passes(filter, item)) found.push(item);
      if (found.length >= offset + limit) break;
    }
    return found.slice(offset, offset + limit);
  }

  async #listNamespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit = 100, offset = 0 } = operation;
    const found = new Map<string, string[]>();
    for await (const memory of this.#items.list([ROOT])) {
      const namespace = toItem(memory)?.namespace;
      if (!namespace || !matchConditions.every((condition) => matches(condition, namespace)))
        continue;
      const cut = namespace.slice(0, maxDepth);
      found.set(groupOf(cut), cut);
    }
    const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.slice(offset, offset + limit).map(([, namespace]) => namespace);
  }
}

function checkNamespace(operation: Operation): void {
  const isWhole = "namespace" in operation;
  const labels = isWhole ? operation.namespace : prefixOf(operation);
  const isNamed = labels.every((label) => label !== "" && !/[.:]/.test(label));
  if (isNamed && (labels.length > 0 || !isWhole)) return;
  throw new TypeError("A namespace needs labels, which are not empty and have neither . nor :");
}

function prefixOf(operation: SearchOperation | ListNamespacesOperation): readonly string[] {
  return "namespacePrefix" in operation ? operation.namespacePrefix : [];
}

/**
 * The group of a namespace. Labels contain neither full stops nor colons, so groups and names are
 * unique. The Python store allows both in labels and encodes them as %2E and %3A.
 */
function groupOf(namespace: readonly string[]): string {
  const labels = namespace.map((label) => label.replaceAll("%", "%25"));
  return labels.length === 0 ? ROOT : `${ROOT}:${labels.join(".")}`;
}

function groupsOf({ namespace }: Pick<Item, "namespace">): string[] {
  return [...namespace.keys(), namespace.length].map((depth) => groupOf(namespace.slice(0, depth)));
}

function nameOf({ namespace, key }: Pick<Item, "namespace" | "key">): string {
  return `${groupOf(namespace)}:${key}`;
}

function toContent({ namespace, key, value, index }: PutOperation): NamedContent {
  const named = index === undefined || index === false ? [] : index;
  const field = [...named, ...TEXT_FIELDS].find((name) => isText(value?.[name]));
  if (field !== undefined) {
    const { [field]: content, ...rest } = value ?? {};
    const kept: Kept = { namespace, key, field, value: rest };
    const metadata = { [ROOT]: kept };
    const bytes = new TextEncoder().encode(JSON.stringify(metadata)).length;
    if (bytes <= MAX_METADATA_BYTES) return { content, metadata };
  }
  const kept: Kept = { namespace, key };
  return { content: JSON.stringify(value), metadata: { [ROOT]: kept } };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** @returns null for a memory that is no item of a store */
function toItem(memory: Memory | FoundMemory): Found | null {
  const kept = memory.metadata[ROOT] as Partial<Kept> | undefined;
  const { namespace, key, field, value } = kept ?? {};
  if (!Array.isArray(namespace) || key === undefined) return null;
  return {
    namespace,
    key,
    value: field === undefined ? parse(memory.content) : { ...value, [field]: memory.content },
    createdAt: new Date(memory.created_at),
    updatedAt: new Date(memory.updated_at),
    ...("score" in memory && { score: memory.score }),
  };
}

/** A user may have changed the text in the dashboard, so that it is no JSON object any more. */
function parse(text: string): Item["value"] {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {}
  return { content: text };
}

type Filter = NonNullable<SearchOperation["filter"]>;

const OPERATORS: { [name: string]: (value: unknown, wanted: unknown) => boolean } = {
  $eq: (value, wanted) => value === wanted,
  $ne: (value, wanted) => value !== wanted,
  $gt: (value, wanted) => Number(value) > Number(wanted),
  $gte: (value, wanted) => Number(value) >= Number(wanted),
  $lt: (value, wanted) => Number(value) < Number(wanted),
  $lte: (value, wanted) => Number(value) <= Number(wanted),
  $in: (value, wanted) => Array.isArray(wanted) && wanted.includes(value),
  $nin: (value, wanted) => !Array.isArray(wanted) || !wanted.includes(value),
};

function passes(filter: Filter, { value }: Item): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    if (typeof wanted !== "object" || wanted === null) return value[field] === wanted;
    return Object.entries(wanted).every(([name, operand]) =>
      OPERATORS[name]?.(value[field], operand),
    );
  });
}

function matches({ matchType, path }: MatchCondition, namespace: readonly string[]): boolean {
  if (path.length > namespace.length) return false;
  const start = matchType === "prefix" ? 0 : namespace.length - path.length;
  return path.every((label, place) => label === "*" || label === namespace[start + place]);
}

/** Processes items, a few at a time, so that a large batch does not overload the server. */
async function inChunks<Each, Result>(
  all: readonly Each[],
  work: (each: Each) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < all.length; start += AT_ONCE) {
    results.push(...(await Promise.all(all.slice(start, start + AT_ONCE).map(work))));
  }
  return results;
}
