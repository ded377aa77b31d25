import type { ObjectSettings } from "../config/shared-settings.ts";
import { type Metrics, measureCalls } from "../metrics.ts";
import type { FileDigest } from "../system/file-digest.ts";
import { readText, saveBody } from "./body.ts";
import { isNotFound, NO_ANSWER, NOT_A_STORE, ObjectStoreError } from "./object-store-error.ts";
import { type CallOptions, createSignedCall } from "./signed-call.ts";

/** The most pages of a listing. A store that lists more never ends. */
const MAX_PAGES = 100_000;

/** The objects of a bucket below the prefix of the settings. Names do not contain the prefix. */
export interface Objects {
  /** Stores a file, completely or not at all. */
  put(name: string, file: Blob): Promise<void>;
  /**
   * Writes an object to a file and replaces an existing one.
   * @param expected what was stored; null if nobody has recorded it
   * @throws ObjectStoreError `NoSuchKey` without such an object, `OtherContent` when it is not what was stored;
   *   errors of the disk
   */
  fetch(name: string, path: string, expected: FileDigest | null): Promise<void>;
  text(name: string): Promise<string>;
  /** Removes an object. Without such an object it does nothing. */
  remove(name: string): Promise<void>;
  /**
   * Lists the objects whose names begin with a prefix, in pages. Names that this program can't have written are left
   * out: other prefixes, and segments such as `..`, which would lead a call to another object.
   */
  list(prefix: string): AsyncGenerator<{ name: string; bytes: number }[]>;
  /** Lists the parts of names before their first slash, in pages, as `list` does. */
  folders(): AsyncGenerator<string[]>;
  /** Whether the bucket keeps removed objects as versions; `null` when the store does not say. */
  versioning(): Promise<"Enabled" | "Suspended" | null>;
}

/** Uses only calls of Amazon S3 that every compatible store supports. */
export function createObjects(settings: ObjectSettings, options: CallOptions = {}): Objects {
  const call = createSignedCall(settings, options);
  const root = settings.prefix === "" ? "" : `${settings.prefix}/`;
  const keyOf = (name: string) => `${root}${name}`;
  const text = (answer: Response) => readText(answer, { what: `an answer of ${settings.bucket}` });

  async function* pages(query: Record<string, string>) {
    const foreign = () => new ObjectStoreError(NOT_A_STORE, { what: "a listing", status: 200 });
    for (let [token, number] = ["", 0]; ; number++) {
      const from = token === "" ? {} : { "continuation-token": token };
      const page = await call(
        { method: "GET", query: { "list-type": "2", ...query, ...from } },
        text,
      );
      // An empty listing would mean that everything has been removed.
      if (!page.includes("<ListBucketResult")) throw foreign();
      yield page;
      const next = fromXml(/<NextContinuationToken>([^<]+)</.exec(page)?.[1] ?? "");
      if (next === "" || !/<IsTruncated>\s*true/.test(page)) return;
      if (next === token || number === MAX_PAGES) throw foreign();
      token = next;
    }
  }
  /** The name of a key below a prefix; none if this program can't have written it. */
  const namesOf = (key: string, prefix: string): string[] => {
    const decoded = fromXml(key);
    const isOurs = decoded.startsWith(prefix) && decoded.split("/").every(isPlain);
    return isOurs ? [decoded.slice(root.length)] : [];
  };

  return {
    async put(name, file) {
      await call({ method: "PUT", key: keyOf(name), body: file }, text);
    },

    fetch: (name, path, expected) =>
      call({ method: "GET", key: keyOf(name) }, (answer, alive) =>
        saveBody(answer, { what: `GET ${name}`, path, expected, alive }),
      ),

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
        yield [...page.matchAll(/<Contents>((?:(?!<Contents>).)*?)<\/Contents>/gs)].flatMap(
          ([, object = ""]) => {
            const bytes = Number(/<Size>(\d+)</.exec(object)?.[1] ?? 0);
            const names = namesOf(/<Key>([^<]*)</.exec(object)?.[1] ?? "", keyOf(prefix));
            return names.map((name) => ({ name, bytes }));
          },
        );
      }
    },

    async *folders() {
      for await (const page of pages({ prefix: root, delimiter: "/" })) {
        const found = page.matchAll(/<CommonPrefixes>\s*<Prefix>([^<]*)\/<\/Prefix>/g);
        yield [...found].flatMap(([, folder = ""]) => namesOf(folder, root));
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

/** Whether a segment of a key leads nowhere else in a path, and can be a name in the database. */
function isPlain(segment: string): boolean {
  return /^[^\p{Cc}\p{Cs}]+$/u.test(segment) && !/^\.{1,2}$/.test(segment);
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  amp: "&",
};

const MAX_CODE_POINT = 0x10ffff;

/** Decodes the text of an XML element. */
function fromXml(text: string): string {
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name) return ENTITIES[name] ?? whole;
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= MAX_CODE_POINT ? String.fromCodePoint(code) : whole;
  });
}

/** Records the calls to an object store, their duration and their result as metrics. */
export function measureObjects(objects: Objects, metrics: Metrics): Objects {
  const measure = measureCalls(metrics, {
    name: "ctxd_object_request_duration_seconds",
    help: "Duration of calls to the object store, including retries.",
    resultOf,
  });

  /** Measures each page as a call. */
  async function* measurePages<Page>(pages: AsyncGenerator<Page>) {
    for (;;) {
      const { done, value } = await measure("list", () => pages.next());
      if (done) return;
      yield value;
    }
  }

  return {
    put: (...args) => measure("put", () => objects.put(...args)),
    fetch: (...args) => measure("get", () => objects.fetch(...args)),
    text: (...args) => measure("get", () => objects.text(...args)),
    remove: (...args) => measure("delete", () => objects.remove(...args)),
    list: (...args) => measurePages(objects.list(...args)),
    folders: () => measurePages(objects.folders()),
    versioning: () => measure("versioning", objects.versioning),
  };
}

function resultOf(error: unknown): string {
  if (isNotFound(error)) return "not_found";
  if (!(error instanceof ObjectStoreError)) return "failed";
  return error.status === null || error.code === NO_ANSWER ? "unreachable" : "refused";
}
