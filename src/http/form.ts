import { AppError } from "../errors.ts";
import { readBytes } from "./body.ts";

/** Bytes of a form: an authorization request with the longest `state` and addresses that we take. */
const MAX_FORM = 64 << 10;

/**
 * Reads a form as browsers and OAuth clients send it.
 * @param maxBytes of the body
 * @throws AppError `unsupported_media_type`, `too_large` or `malformed_request`
 */
export async function readForm(request: Request, maxBytes = MAX_FORM): Promise<URLSearchParams> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    throw new AppError(
      "unsupported_media_type",
      "The body must be a form: send it as `application/x-www-form-urlencoded`.",
    );
  }
  const bytes = await readBytes(request, maxBytes);
  try {
    return new URLSearchParams(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AppError("malformed_request", "The body is not UTF-8.", { cause });
  }
}

export type FormWithFiles = Awaited<ReturnType<Response["formData"]>>;

/**
 * Reads a form with files, as browsers send it.
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
  const bytes = await readBytes(request, maxBytes);
  try {
    return await new Response(bytes, { headers: { "content-type": type } }).formData();
  } catch (cause) {
    throw new AppError("malformed_request", "The form is damaged.", { cause });
  }
}
