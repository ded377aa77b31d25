import type { ImportedMemory } from "../memories/model/memory.ts";
import { type Converted, createConverter } from "./convert-memory.ts";
import { openArchive } from "./files/archive.ts";
import { compareReadingOrder, type InputFile, kindOf } from "./files/input-file.ts";
import {
  locationIn,
  type OpenedFile,
  openText,
  peek,
  SourceError,
  unpackZstd,
} from "./files/source.ts";
import { basicMemory } from "./formats/basic-memory.ts";
import type { Context, Format, FoundEntry, SourceMemory } from "./formats/format.ts";
import { recognise } from "./formats/formats.ts";
import { type ProjectOf, rememberProjects } from "./transcripts/folders.ts";

/** An entry that was read: a line of JSON for the server, or a problem. */
export type SourceLine = GoodLine | { at: string; problem: string };

export interface GoodLine {
  at: string;
  line: string;
  /** The memory in the line; null when the source contained the line as it is. */
  memory: ImportedMemory | null;
  /** What could not be imported, each the end of a sentence. */
  notes: readonly string[];
}

/** The outcome of reading a file. */
export interface ReadFile {
  /** Empty when it is the only file. */
  name: string;
  /** Its format, described to people; null when unknown. */
  format: string | null;
  /** Number of memories and problems in it. */
  found: number;
  /** Why nothing in it can be imported; null otherwise. */
  problem: string | null;
}

/** The entries of files in any format. The other fields are filled while `lines` is read. */
export interface Reading {
  lines: AsyncGenerator<SourceLine>;
  files: ReadFile[];
  /** What was left out on purpose, with its number. */
  leftOut: Map<string, number>;
  /** Progress from 0 to 1; null when unknown. */
  share(): number | null;
}

export interface ReadOptions {
  /** The project of memories that have none of their own. */
  project?: string | null;
  /** Whether the files come from a folder, which may also contain unrelated files. */
  isFolder?: boolean;
  isOrdered?: boolean;
  /** The project of a folder on this machine, for transcripts; null when it has none. */
  projectOf?: ProjectOf;
  /** Reads a PDF elsewhere, such as in a thread whose memory is limited. By default it is read here. */
  readPdf?: (file: File, options: { project: string | null }) => Reading;
}

/** Reasons for leaving something out that are counted: an archive may have thousands of file name extensions. */
const MAX_REASONS = 20;
const OTHER_REASONS = "others";

/** Reads files one after the other, each in its own format. */
export function readFiles(
  inputs: readonly InputFile[],
  {
    project = null,
    isFolder = false,
    isOrdered = false,
    projectOf = async () => null,
    readPdf,
  }: ReadOptions = {},
): Reading {
  const meter = createMeter(inputs);
  const files: ReadFile[] = [];
  const leftOut = new Map<string, number>();
  const context: Context = { projects: new Map(), projectOf: rememberProjects(projectOf) };
  const convert = createConverter({ project });

  const leaveOut = (reason: string) => {
    const isListed = leftOut.has(reason) || leftOut.size < MAX_REASONS;
    const kind = isListed ? reason : OTHER_REASONS;
    leftOut.set(kind, (leftOut.get(kind) ?? 0) + 1);
  };

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
    opened: OpenedFile,
    { isPart, file }: { isPart: boolean; file: ReadFile },
  ): AsyncGenerator<SourceLine> {
    files.push(file);
    if (readPdf && isPdf(opened)) {
      yield* readElsewhere(input, file, async () => {
        const blob = await gather(input, opened);
        return readPdf(new File([blob], input.fileName ?? input.name), { project });
      });
      return;
    }
    const { format, found } = await readOne(input, opened, isPart);
    file.format = format.name;
    for await (const one of found) {
      if ("leftOut" in one) {
        leaveOut(one.leftOut);
        continue;
      }
      file.found++;
      yield* toLines(one, (memory) => convert(format.origin, memory));
    }
    if (file.found === 0) file.problem = "contains no memories";
  }

  /** Passes on what another reading of a single file finds, with this file's name. */
  async function* readElsewhere(
    input: InputFile,
    file: ReadFile,
    begin: () => Promise<Reading>,
  ): AsyncGenerator<SourceLine> {
    const reading = await begin();
    try {
      for await (const line of reading.lines) {
        file.found++;
        yield { ...line, at: locationIn(input, line.at) };
      }
    } catch (error) {
      throw error instanceof SourceError ? new SourceError(input.name, error.problem) : error;
    }
    for (const { format, problem } of reading.files) Object.assign(file, { format, problem });
    for (const [reason, count] of reading.leftOut) {
      for (let n = 0; n < count; n++) leaveOut(reason);
    }
  }

  /** Reads one of several files. An unreadable file is reported, and the others are read. */
  async function* readPart(input: InputFile, depth: number): AsyncGenerator<SourceLine> {
    const isNamed = !isFolder && depth === 0;
    if (!isNamed && kindOf(input.fileName ?? input.name) === "other") {
      leaveOut(`files of other kinds (${extensionOf(input)})`);
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
      const readable = parts.filter(({ fileName = "" }) => !isHidden(fileName));
      const total = readable.filter(({ fileName = "" }) => kindOf(fileName) !== "other");
      meter.expect(total.reduce((sum, { size }) => sum + size, 0));
      for (const part of readable.toSorted(compareReadingOrder)) yield* readPart(part, 1);
    } finally {
      close();
    }
  }

  async function readOne(input: InputFile, opened: OpenedFile, isPart: boolean) {
    const { fileName = input.name, name, modifiedAt } = input;
    if (isPdf(opened)) {
      const { pdf } = await import("./files/pdf.ts");
      const blob = await gather(input, opened);
      return { format: pdf, found: pdf.read(blob, { name, fileName }) };
    }
    const text = isZstd(opened) ? await unpack(input, opened) : opened;
    const { path } = input;
    const source = {
      ...openText(text, { name, modifiedAt }),
      fileName,
      ...(path !== undefined && { path }),
    };
    const isNote = isPart && kindOf(fileName) === "note";
    const format: Format = isNote ? basicMemory : recognise(source);
    return { format, found: format.read(source, context) };
  }

  async function* readAll(): AsyncGenerator<SourceLine> {
    const isMany = isFolder || inputs.length > 1;
    const inOrder = isOrdered ? inputs : inputs.toSorted(compareReadingOrder);
    for (const input of inOrder)
      yield* isMany ? readPart(input, 0) : readFile(input, { isPart: false, depth: 0 });
  }

  return { lines: readAll(), files, leftOut, share: meter.share };
}

function* toLines(
  one: FoundEntry,
  convert: (memory: SourceMemory) => Converted,
): Generator<SourceLine> {
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

function isArchive({ head }: OpenedFile): boolean {
  // An empty archive begins with its end record (`PK\x05`).
  return head[0] === 0x50 && head[1] === 0x4b && [3, 5].includes(head[2] ?? 0);
}

/** Zstandard (RFC 8878, section 3.1.1), with which Codex compresses old transcripts. */
function isZstd({ head }: OpenedFile): boolean {
  return Buffer.from(head.subarray(0, 4)).toString("hex") === "28b52ffd";
}

/** Unpacks files on this machine only: agents compress transcripts, and nobody uploads those one by one. */
async function unpack(input: InputFile, opened: OpenedFile): Promise<OpenedFile> {
  if (input.path === undefined) {
    throw new SourceError(input.name, "is compressed: unpack it first");
  }
  const packed = await (await gather(input, opened)).bytes();
  return await peek(unpackZstd(packed, input.name), () => {});
}

function isPdf({ head }: OpenedFile): boolean {
  // PDF readers accept the mark anywhere in the first kilobyte.
  return Buffer.from(head.subarray(0, 1_024)).includes("%PDF-");
}

/** Bytes of a file that must be in memory as a whole: a PDF in an archive or from standard input. */
const MAX_GATHERED_BYTES = 256 << 20;

async function gather(input: InputFile, opened: OpenedFile): Promise<Blob> {
  if (input.blob) {
    await opened.close();
    return input.blob();
  }
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of opened.bytes) {
    size += chunk.length;
    if (size > MAX_GATHERED_BYTES) throw new SourceError(input.name, "is too large");
    parts.push(new Uint8Array(chunk));
  }
  return new Blob(parts);
}

/** Whether a file in an archive is hidden, or metadata of macOS. */
function isHidden(name: string): boolean {
  return name.split("/").some((part) => part.startsWith(".") || part === "__MACOSX");
}

function extensionOf({ fileName, name }: InputFile): string {
  const [, extension] = /\.(\w{1,8})$/.exec(fileName ?? name) ?? [];
  return extension === undefined ? "no extension" : `.${extension.toLowerCase()}`;
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
    /** Adds the unpacked size of an archive to the total. */
    expect: (bytes: number) => {
      if (total !== null) total += bytes;
    },
    share: () => (total ? Math.min(1, done / total) : null),
  };
}
