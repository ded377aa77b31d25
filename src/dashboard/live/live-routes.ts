import { AppError } from "../../errors.ts";
import { createPages } from "../page-routes.tsx";
import type { Parts } from "../parts.ts";
import { isTopic, TOPICS } from "./live.ts";

/** The stream of change events. */
const EVENTS_PATH = "/events";

/** `GET /events?of=TOPIC`: a stream of change events for an open page. */
export function createLiveRoutes({ guard, live }: Parts) {
  const pages = createPages(guard);
  pages.routes.onStop(() => live.close());
  pages.get(EVENTS_PATH, ({ url, account, stillSignedIn, request }) => {
    const topic = url.searchParams.get("of");
    if (!isTopic(topic)) {
      throw new AppError("validation_failed", `of must be one of ${TOPICS.join(", ")}.`);
    }
    const body = live.open(account.id, topic, { stillSignedIn, signal: request.signal });
    if (body === null) {
      return new Response("Too many pages are open. Close some and try again.", {
        status: 503,
        headers: { "retry-after": "30" },
      });
    }
    const headers = {
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      // Without this header nginx would buffer the messages.
      "x-accel-buffering": "no",
    };
    return new Response(body, { headers });
  });
  return pages.routes;
}
