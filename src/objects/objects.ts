import { type FileHandle, open } from "node:fs/promises";
import type { ObjectSettings } from "../shared-settings.ts";
import { isNotFound, ObjectStoreError } from "./object-store-error.ts";
import { type CallOptions, createSignedCall, type ReadAnswer } from "./signed-call.ts";

/** The objects of a bucket below the prefix of the settings. Names do not contain the prefix. */
export interface Objects {
  /** Stores a file, completely or not at all. */
  put(name: string, file: Blob): Promise<void>;
  /**
   * Writes an object to a file and replaces an existing one.
   * @throws ObjectStoreError `NoSuchKey` without such an object; errors of the disk
   */
  fetch(name: string, path: string): Promise<void>;
  /** The text of a small object. */
  text(name: string): Promise<string>;
  /** Removes an object. Without such an object it does nothing. */
  remove(name: string): Promise<void>;
  /** Lists the objects whose names begin with a prefix, in pages. */
  list(prefix: string): AsyncGenerator<{ name: string; bytes: number }[]>;
  /** Lists the parts of names before their first slash, in pages. */
  folders(): AsyncGenerator<string[]>;
  /** Whether the bucket keeps removed objects as versions; `null` when the store does not say. */
  versioning(): Promise<"Enabled" | "Suspended" | null>;
}

/** Uses only calls of Amazon S3 that every compatible store supports. */
export function createObjects(settings: ObjectSettings, options: CallOptions = {}): Objects {
  const call = createSignedCall(settings, options);
  const root = settings.prefix === "" ? "" : `${settings.prefix}/`;
  const keyOf = (name: string) => `${root}${name}`;
  const text = (answer: Response) => answer.text();

  /** Calls ListObjectsV2 for each page. */
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
      // For a missing object Amazon S3 answers success, other stores answer an error.
      await removing.catch((error) => {
        if (!isNotFound(error)) throw error;
      });
    },

    async *list(prefix) {
      for await (const page of pages({ prefix: keyOf(prefix) })) {
        yield [...page.matchAll(/<Contents>((?:(?!<Contents>).)*?)<\/Contents>/gs)].map(
          ([, object = ""]) => ({
            name: nameOf(/<Key>([^<]*)</.exec(object)?.[1] ?? ""),
            bytes: Number(/<Size>(\d+)</.exec(object)?.[1] ?? 0),
          }),
        );
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

/** Writes an answer to a file while it arrives. @throws ObjectStoreError when it is incomplete */
async function save(
  answer: Response,
  { path, alive }: { path: string; alive: Parameters<ReadAnswer<void>>[1] },
): Promise<void> {
  const length = answer.headers.get("content-length");
  // "w" truncates the file of an earlier attempt.
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

/** Decodes the text of an XML element. */
function fromXml(text: string): string {
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal) return String.fromCodePoint(Number(decimal));
    return ENTITIES[name] ?? whole;
  });
}
