import type { PDFDocumentProxy } from "unpdf/pdfjs";
import type { FoundEntry } from "../formats/format.ts";
import { stemOf } from "./input-file.ts";
import { locationIn, SourceError } from "./source.ts";

const MAX_PAGES = 10_000;

/** The text of a PDF: each page is a memory, with the document's title as its subject. */
export const pdf = {
  name: "a PDF",
  origin: "pdf",

  /** @throws SourceError when the file can't be read */
  async *read(
    blob: Blob,
    { name, fileName }: { name: string; fileName: string },
  ): AsyncGenerator<FoundEntry> {
    using _ = ignoreUnhandledErrors();
    const document = await open(await blob.bytes(), name);
    try {
      const { title, createdAt } = await describe(document);
      const subject = title ?? stemOf(fileName);
      if (document.numPages > MAX_PAGES) {
        yield {
          at: locationIn({ name }, `page ${MAX_PAGES + 1}`),
          problem: "and the following pages are too many",
        };
      }
      let isImages = true;
      for (let number = 1; number <= Math.min(document.numPages, MAX_PAGES); number++) {
        const at = locationIn({ name }, `page ${number}`);
        const text = await readPage(document, number).catch(() => null);
        if (text === null) yield { at, problem: "is damaged" };
        else if (text === "") yield { at, leftOut: "pages of a PDF without text" };
        else {
          const key = JSON.stringify([subject, number, text]);
          const metadata = { document: stemOf(fileName), page: number };
          yield { at, memory: { content: text, subject, key, metadata, createdAt } };
        }
        isImages &&= text === "";
      }
      if (isImages) throw new SourceError(name, "has no text: its pages are images");
    } finally {
      await document.loadingTask.destroy();
    }
  },
};

/** Names of the library's errors. */
const LIBRARY_ERROR = /^(\w+Exception|FormatError)$/;

/**
 * Ignores unhandled rejections of the library until it is disposed: for a damaged file, the library rejects promises
 * that it does not return, which would end the program. The promises that it returns reject too.
 */
function ignoreUnhandledErrors(): Disposable {
  const ignore = (error: unknown) => {
    const isOurs = !(error instanceof Object && "name" in error);
    if (isOurs || !LIBRARY_ERROR.test(String(error.name))) throw error;
  };
  process.on("unhandledRejection", ignore);
  // Rejections are reported later, at the end of a turn of the event loop.
  const dispose = () => setTimeout(() => process.off("unhandledRejection", ignore), 1_000).unref();
  return { [Symbol.dispose]: () => void dispose() };
}

async function open(data: Uint8Array, name: string): Promise<PDFDocumentProxy> {
  const { getDocumentProxy } = await import("unpdf");
  try {
    // Fonts map codes to letters. Nothing is drawn or downloaded.
    return await getDocumentProxy(data, { verbosity: 0 });
  } catch (cause) {
    const needsPassword = cause instanceof Error && cause.name === "PasswordException";
    throw new SourceError(name, needsPassword ? "is encrypted" : "is a damaged PDF", { cause });
  }
}

async function describe(document: PDFDocumentProxy) {
  const { info } = await document.getMetadata().catch(() => ({ info: {} }));
  const { Title, CreationDate } = Object(info);
  const title = typeof Title === "string" && Title.trim() !== "" ? Title : null;
  return { title, createdAt: typeof CreationDate === "string" ? toIso(CreationDate) : undefined };
}

/** ISO 32000-1, section 7.9.4: `D:20240301120000+01'00'`. */
function toIso(date: string): string | undefined {
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", zone = ""] =
    /^(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(Z|[+-]\d\d'?\d\d)?/.exec(date) ?? [];
  if (year === undefined) return undefined;
  const offset = zone.replace("'", "").replace(/^([+-]\d\d)(\d\d)$/, "$1:$2");
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${offset || "Z"}`;
}

/** The text of a page, with its lines and paragraphs. */
async function readPage(document: PDFDocumentProxy, number: number): Promise<string> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  let text = "";
  let line: { y: number; height: number } | null = null;
  for (const item of items) {
    if (!("str" in item)) continue;
    const [y, height] = [item.transform[5] as number, item.height || 10];
    if (line && item.str !== "" && line.y - y > 1.8 * Math.max(height, line.height)) {
      text = `${text.trimEnd()}\n\n`;
    }
    text += item.str;
    if (item.hasEOL) text += "\n";
    if (item.str.trim() !== "") line = { y, height };
  }
  page.cleanup();
  return joinLines(text);
}

/** Joins the lines of each paragraph, and words that were hyphenated at the end of a line. */
function joinLines(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) =>
      paragraph
        .replace(/(\p{Ll})-\n(?=\p{Ll})/gu, "$1")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}
