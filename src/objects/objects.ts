import { type FileHandle, open } from "node:fs/promises";
import type { ObjectSettings } from "../shared-settings.ts";
import { isNotFound, ObjectStoreError } from "./object-store-error.ts";
import { type CallOptions, createSignedCall, type ReadAnswer } from "./signed-call.ts";

/** The objects of a bucket below the prefix of the settings, which no name has. */
export interface Objects {
  /** Stores a file: whole or not at all. */
  put(name: string, file: Blob): Promise<void>;
  /**
   * Writes an object into a file, which must not be there.
   * @throws ObjectStoreError `NoSuchKey` when there is no such object, or what the disk reports
   */
  fetch(name: string, path: string): Promise<void>;
  /** The text of a small object. */
  text(name: string): Promise<string>;
  /** Removes an object, whether it is there or not. */
  remove(name: string): Promise<void>;
  /** Objects whose names begin with a prefix, some at a time. */
  list(prefix: string): AsyncGenerator<{ name: string; bytes: number }[]>;
  /** What names begin with before their first slash, some at a time. */
  folders(): AsyncGenerator<string[]>;
  /** Whether the bucket keeps what is removed; `null` where the store does not know or does not tell. */
  versioning(): Promise<"Enabled" | "Suspended" | null>;
}

/** Objects by calls of Amazon S3 that every store like it answers. */
export function createObjects(settings: ObjectSettings, options: CallOptions = {}): Objects {
  const call = createSignedCall(settings, options);
  const root = settings.prefix === "" ? "" : `${settings.prefix}/`;
  const keyOf = (name: string) => `${root}${name}`;
  const text = (answer: Response) => answer.text();

  /** ListObjectsV2, a page at a time. */
  async function* pages(query: Record<string, string>) {
    for (let token = ""; ; ) {
      const from = token === "" ? {} : { "continuation-token": token };
      const page = await call(
        { method: "GET", query: { "list-type": "2", ...query, ...from } },
        text,
      );
      yield page;
      token = /<NextContinuationToken>([^<]+)</.exec(page)?.[1] ?? "";
      token = fromXml(token);
      if (token === "" || !/<IsTruncated>\s*true/.test(page)) return;
    }
  }
  const nameOf = (key: string) => fromXml(key).slice(root.length);

  return {
    async put(name, file) {
      await call({ method: "PUT", key: keyOf(name), body: file }, text);
    },

    fetch: (name, path) =>
      call({ method: "GET", key: keyOf(name) }, (answer, alive) => save(answer, { path, alive })),

    text: (name) => call({ method: "GET", key: keyOf(name) }, text),

    async remove(name) {
      const removing = call({ method: "DELETE", key: keyOf(name) }, text);
      // Amazon S3 says nothing of it, others do.
      await removing.catch((error) => {
        if (!isNotFound(error)) throw error;
      });
    },

    async *list(prefix) {
      for await (const page of pages({ prefix: keyOf(prefix) })) {
        yield [...page.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, object = ""]) => ({
          name: nameOf(/<Key>([^<]*)</.exec(object)?.[1] ?? ""),
          bytes: Number(/<Size>(\d+)</.exec(object)?.[1] ?? 0),
        }));
      }
    },

    async *folders() {
      for await (const page of pages({ prefix: root, delimiter: "/" })) {
        const found = page.matchAll(/<CommonPrefixes>\s*<Prefix>([^<]*)\/<\/Prefix>/g);
        yield [...found].map(([, folder = ""]) => nameOf(folder));
      }
    },

    async versioning() {
      try {
        const answer = await call({ method: "GET", query: { versioning: "" } }, text);
        const status = /<Status>\s*(Enabled|Suspended)/.exec(answer)?.[1];
        return status === "Enabled" || status === "Suspended" ? status : null;
      } catch (error) {
        if (error instanceof ObjectStoreError && error.code === "NotImplemented") return null;
        throw error;
      }
    },
  };
}

/** Writes an answer into a file as it comes. A file that is not whole is none. */
async function save(
  answer: Response,
  { path, alive }: { path: string; alive: Parameters<ReadAnswer<void>>[1] },
): Promise<void> {
  const length = answer.headers.get("content-length");
  // A call that is made again begins it again.
  const handle = await open(path, "w");
  try {
    const written = answer.body ? await writeAll(handle, answer.body, alive) : 0;
    if (length !== null && written !== Number(length)) {
      throw new ObjectStoreError("IncompleteBody", { what: `GET ${path}` });
    }
  } finally {
    await handle.close();
  }
}

async function writeAll(
  handle: FileHandle,
  body: AsyncIterable<Uint8Array>,
  alive: () => void,
): Promise<number> {
  let bytes = 0;
  for await (const chunk of body) {
    alive();
    await handle.writeFile(chunk);
    bytes += chunk.byteLength;
  }
  return bytes;
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  amp: "&",
};

/** The text of an element of XML. */
function fromXml(text: string): string {
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal) return String.fromCodePoint(Number(decimal));
    return ENTITIES[name] ?? whole;
  });
}
