import { AppError } from "../errors.ts";

/**
 * Refuses query strings of which a part would be ignored silently: repeated parameters, and escape
 * sequences that are not UTF-8.
 * @throws AppError `malformed_request` or `validation_failed`
 */
export function checkQueryString(request: Request): void {
  const start = request.url.indexOf("?");
  if (start < 0) return;
  const seen = new Set<string>();
  for (const parameter of request.url.slice(start + 1).split("&")) {
    const name = decode(parameter).split("=", 1)[0] ?? "";
    if (seen.has(name)) {
      throw new AppError("validation_failed", "A query parameter is given more than once.");
    }
    seen.add(name);
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new AppError(
      "malformed_request",
      "The query string is not well-formed: check its % escapes.",
      {
        cause,
      },
    );
  }
}
