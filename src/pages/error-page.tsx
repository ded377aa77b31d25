/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../errors.ts";
import { MessagePage } from "./layout.tsx";
import { pageResponse } from "./page-response.ts";

/** A page with an error message and a link to the dashboard. */
export function errorPage(message: string, status: number, headers: Headers): Response {
  const link = { href: "/", label: "Go to the dashboard" };
  const page = <MessagePage title="This does not work" message={message} link={link} />;
  return pageResponse(page, { status, headers: Object.fromEntries(headers) });
}

/** Whether a browser requests a page, so that an error must be a page instead of JSON. */
export function asksForPage(request: Request): boolean {
  const path = URL.parse(request.url)?.pathname ?? "";
  const isForPrograms = path.startsWith("/api/") || path === "/mcp";
  return !isForPrograms && (request.headers.get("accept") ?? "").includes("text/html");
}

/**
 * Runs the handler of a page. An `AppError` below status 500 becomes an error page; the app handles all other
 * errors.
 */
export async function answerWithPage(
  handle: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await handle();
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    const { status, message, retryAfter } = error;
    const headers = new Headers();
    if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
    return errorPage(message, status, headers);
  }
}
