/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../errors.ts";
import { MessagePage } from "./layout.tsx";
import { pageResponse } from "./page-response.ts";

/** Says what is wrong, with the way to where everything begins. */
export function errorPage(message: string, status: number, headers: Headers): Response {
  const link = { href: "/", label: "Go to the dashboard" };
  const page = <MessagePage title="This does not work" message={message} link={link} />;
  return pageResponse(page, { status, headers: Object.fromEntries(headers) });
}

/** Whether a browser asks for something to show: a person would see the JSON of an error. */
export function asksForPage(request: Request): boolean {
  const path = URL.parse(request.url)?.pathname ?? "";
  const isForPrograms = path.startsWith("/api/") || path === "/mcp";
  return !isForPrograms && (request.headers.get("accept") ?? "").includes("text/html");
}

/**
 * What a page's handler answers; what it throws for the person to see becomes a page as well. The
 * rest is the app's.
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
