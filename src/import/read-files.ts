import type { ImportedMemory } from "../memories/memory.ts";
import { openArchive } from "./archive.ts";
import { basicMemory } from "./basic-memory.ts";
import { type Converted, createConverter } from "./convert-memory.ts";
import { inReadingOrder, kindOf } from "./file-kinds.ts";
import type { Context, Format, Found, SourceMemory } from "./format.ts";
import { recognise } from "./formats.ts";
import type { InputFile } from "./input-file.ts";
import { HEAD, type Opened, openText, peek, SourceError } from "./source.ts";

/** What is found at a place: a line of JSON as the server takes it, or what is wrong with it. */
export type SourceLine = GoodLine | { at: string; problem: string };

export interface GoodLine {
  at: string;
  line: string;
  /** What the line says, where it was made here. */
  memory: ImportedMemory | null;
  /** What could not be taken over, each the end of a sentence. */
  notes: readonly string[];
}

/** What became of a file. */
export interface ReadFile {
  /** Empty for the only one. */
  name: string;
  /** What it is, for people; null when that is not known. */
  format: string | null;
  /** Memories and problems in it. */
  found: number;
  /** Why nothing of it can be imported; null when something can. */
  problem: string | null;
}

/** What can be imported, whatever it was; filled as `lines` are read. */
export interface Reading {
  /** What is in it, in its order. */
  lines: AsyncGenerator<SourceLine>;
  /** What was read so far. */
  files: ReadFile[];
  /** What was left out on purpose, and how many of it. */
  leftOut: Map<string, number>;
  /** 0 to 1; null when that is not known. */
  share(): number | null;
}

export interface ReadOptions {
  /** The project of what does not say its own. */
  project?: string | null;
  /** Whether these are the files of a folder, of which some may be anything. */
  isFolder?: boolean;
  /** Whether they are to be read in the order in which they are given. */
  isOrdered?: boolean;
  /** The project of a folder of this machine, which transcripts name; null when it has none. */
  projectOf?: (folder: string) => string | null;
}

/** Reads files one after the other, and finds out what each is. */
export function readFiles(
  inputs: readonly InputFile[],
  { project = null, isFolder = false, isOrdered = false, projectOf = () => null }: ReadOptions = {},
): Reading {
  const meter = createMeter(inputs);
  const files: ReadFile[] = [];
  const leftOut = new Map<string, number>();
  const context: Context = { projects: new Map(), projectOf };
  const convert = createConverter({ project });

  const leave = (reason: string) => void leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);

  async function* readFile(
    input: InputFile,
    { isPart, depth }: { isPart: boolean; depth: number },
    file = newFile(input),
  ): AsyncGenerator<SourceLine> {
    const opened = await peek(input.read(), meter.onRead);
    try {
      if (isArchive(opened)) {
        if (depth > 0) throw new SourceError(input.name, "is an archive in an archive");
        yield* readArchive(await gather(input, opened), input.name);
      } else yield* readOpened(input, opened, { isPart, file });
    } finally {
      await opened.close();
    }
  }

  async function* readOpened(
    input: InputFile,
    opened: Opened,
    { isPart, file }: { isPart: boolean; file: ReadFile },
  ): AsyncGenerator<SourceLine> {
    files.push(file);
    const { format, found } = await readOne(input, opened, isPart);
    file.format = format.name;
    for await (const one of found) {
      if ("leftOut" in one) {
        leave(one.leftOut);
        continue;
      }
      file.found++;
      yield* toLines(one, (memory) => convert(format.origin, memory));
    }
    if (file.found === 0) file.problem = "has nothing in it to remember";
  }

  /** A file that can't be read is told, and the others are read. */
  async function* readPart(input: InputFile, depth: number): AsyncGenerator<SourceLine> {
    const isNamed = !isFolder && depth === 0;
    if (!isNamed && kindOf(input.called ?? input.name) === "other") {
      leave(`files of other kinds (${extensionOf(input)})`);
      return;
    }
    const file = newFile(input);
    try {
      yield* readFile(input, { isPart: !isNamed, depth }, file);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (!files.includes(file)) files.push(file);
      if (file.found === 0) file.problem = error.problem;
      else yield { at: input.name, problem: error.problem };
    }
  }

  async function* readArchive(blob: Blob, name: string): AsyncGenerator<SourceLine> {
    const { files: parts, close } = await openArchive(blob, name);
    try {
      const readable = parts.filter(({ called = "" }) => !isHidden(called));
      const total = readable.filter(({ called = "" }) => kindOf(called) !== "other");
      meter.expect(total.reduce((sum, { size }) => sum + size, 0));
      for (const part of readable.toSorted(inReadingOrder)) yield* readPart(part, 1);
    } finally {
      close();
    }
  }

  async function readOne(input: InputFile, opened: Opened, isPart: boolean) {
    const { called = input.name, name, modifiedAt } = input;
    if (isPdf(opened)) {
      const { pdf } = await import("./pdf.ts");
      const blob = await gather(input, opened);
      return { format: pdf, found: pdf.read(blob, { name, called }) };
    }
    const text = isZstd(opened) ? await unpack(input, opened) : opened;
    const { path } = input;
    const source = {
      ...openText(text, { name, modifiedAt }),
      called,
      ...(path !== undefined && { path }),
    };
    const isNote = isPart && kindOf(called) === "note";
    const format: Format = isNote ? basicMemory : recognise(source);
    return { format, found: format.read(source, context) };
  }

  async function* readAll(): AsyncGenerator<SourceLine> {
    const isMany = isFolder || inputs.length > 1;
    const inOrder = isOrdered ? inputs : inputs.toSorted(inReadingOrder);
    for (const input of inOrder)
      yield* isMany ? readPart(input, 0) : readFile(input, { isPart: false, depth: 0 });
  }

  return { lines: readAll(), files, leftOut, share: meter.share };
}

function* toLines(one: Found, convert: (memory: SourceMemory) => Converted): Generator<SourceLine> {
  const { at } = one;
  if ("problem" in one) yield { at, problem: one.problem };
  else if ("line" in one) yield { at, line: one.line, memory: null, notes: [] };
  else if ("memory" in one) {
    const { memories, notes } = convert(one.memory);
    if (memories.length === 0) yield { at, problem: "has no text" };
    for (const memory of memories) yield { at, line: JSON.stringify(memory), memory, notes };
  }
}

function newFile({ name }: InputFile): ReadFile {
  return { name, format: null, found: 0, problem: null };
}

function isArchive({ head }: Opened): boolean {
  // An empty one begins with its end.
  return head[0] === 0x50 && head[1] === 0x4b && [3, 5].includes(head[2] ?? 0);
}

/** RFC 8878, section 3.1.1. Codex compresses its old transcripts so. */
function isZstd({ head }: Opened): boolean {
  return Buffer.from(head.subarray(0, 4)).toString("hex") === "28b52ffd";
}

/** Only what is on this machine is unpacked: nobody has sent it to take up memory. */
async function unpack(input: InputFile, opened: Opened) {
  if (input.path === undefined) {
    throw new SourceError(input.name, "is compressed: unpack it first");
  }
  const packed = await (await gather(input, opened)).bytes();
  const bytes = await Bun.zstdDecompress(packed).catch((cause) => {
    throw new SourceError(input.name, "is damaged", { cause });
  });
  const all = async function* () {
    yield bytes;
  };
  return { head: bytes.subarray(0, HEAD), bytes: all() };
}

function isPdf({ head }: Opened): boolean {
  // Readers accept it anywhere in the first kilobyte.
  return Buffer.from(head.subarray(0, 1_024)).includes("%PDF-");
}

/** Bytes of what must be in memory as a whole: text of a PDF in an archive, or of standard input. */
const MAX_GATHERED = 256 << 20;

async function gather(input: InputFile, opened: Opened): Promise<Blob> {
  if (input.blob) {
    await opened.close();
    return input.blob();
  }
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of opened.bytes) {
    size += chunk.length;
    if (size > MAX_GATHERED) throw new SourceError(input.name, "is too large");
    parts.push(new Uint8Array(chunk));
  }
  return new Blob(parts);
}

/** Files that a system keeps beside its own, in archives too. */
function isHidden(name: string): boolean {
  return name.split("/").some((part) => part.startsWith(".") || part === "__MACOSX");
}

function extensionOf({ called, name }: InputFile): string {
  const [, extension] = /\.(\w{1,8})$/.exec(called ?? name) ?? [];
  return extension === undefined ? "no ending" : `.${extension.toLowerCase()}`;
}

function createMeter(inputs: readonly InputFile[]) {
  const sizes = inputs.map(({ size }) => size);
  let total = sizes.includes(null)
    ? null
    : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  let done = 0;
  return {
    onRead: (bytes: number) => {
      done += bytes;
    },
    /** What is in an archive is more than the archive. */
    expect: (bytes: number) => {
      if (total !== null) total += bytes;
    },
    share: () => (total ? Math.min(1, done / total) : null),
  };
}
