import { AppError } from "../../errors.ts";
import { readBytes, requireType } from "./body.ts";

/** Bytes of a form. An authorization request with the longest `state` and addresses fits. */
const MAX_FORM = 64 << 10;

/**
 * Reads a form that a browser or an OAuth client sent.
 * @param maxBytes of the body
 * @throws AppError `unsupported_media_type`, `too_large` or `malformed_request`
 */
export async function readForm(request: Request, maxBytes = MAX_FORM): Promise<URLSearchParams> {
  requireType(request, ["application/x-www-form-urlencoded"], "be a form");
  const bytes = await readBytes(request, maxBytes);
  try {
    return new URLSearchParams(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AppError("malformed_request", "The body is not UTF-8.", { cause });
  }
}

/** Parts of a form with files. Each part becomes an object, however small it is. */
const MAX_PARTS = 16;
/** RFC 2046, section 5.1.1: the text between two parts. */
const BOUNDARY = /;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'()+,./:=?-]{1,70}))\s*(?:;|$)/i;

export type FormWithFiles = Awaited<ReturnType<Response["formData"]>>;

/**
 * Reads a form with files that a browser sent.
 * @param maxBytes of the body, which is held in memory
 * @throws AppError `unsupported_media_type`, `too_large` or `malformed_request`
 */
export async function readFiles(request: Request, maxBytes: number): Promise<FormWithFiles> {
  const type = request.headers.get("content-type") ?? "";
  if (!type.toLowerCase().startsWith("multipart/form-data;")) {
    throw new AppError(
      "unsupported_media_type",
      "The body must be a form with files: send it as `multipart/form-data`.",
    );
  }
  const [, quoted, plain] = BOUNDARY.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) {
    throw new AppError(
      "malformed_request",
      "The form does not name the boundary between its parts.",
    );
  }
  const bytes = await readBytes(request, maxBytes);
  if (hasMoreParts(bytes, boundary)) {
    throw new AppError("malformed_request", `The form has more than ${MAX_PARTS} parts.`);
  }
  // Written again from the parsed value, so that both parsers use the same boundary.
  const headers = { "content-type": `multipart/form-data; boundary="${boundary}"` };
  try {
    return await new Response(bytes, { headers }).formData();
  } catch (cause) {
    throw new AppError("malformed_request", "The form is damaged.", { cause });
  }
}

function hasMoreParts(bytes: Uint8Array, boundary: string): boolean {
  const [text, mark] = [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), `--${boundary}`];
  let count = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) {
    // The last boundary ends the form.
    if (++count > MAX_PARTS + 1) return true;
  }
  return false;
}
