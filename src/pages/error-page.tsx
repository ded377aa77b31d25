/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../errors.ts";
import { MessagePage } from "./layout.tsx";
import { pageResponse } from "./page-response.ts";

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
    const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
    return pageResponse(<MessagePage title="This does not work" message={message} />, {
      status,
      headers,
    });
  }
}
