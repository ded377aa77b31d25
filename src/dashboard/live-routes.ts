import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import { type Guard, PAGE_ROUTE } from "./guard.tsx";
import { isTopic, type Live, TOPICS } from "./live.ts";

/** Where a page hears of changes. */
export const EVENTS_PATH = "/events";

/** `GET /events?of=TOPIC`: a stream for a page that is looked at, of the session that asks. */
export function createLiveRoutes({ guard, live }: { guard: Guard; live: Live }) {
  return new Elysia()
    .onStop(() => live.close())
    .get(
      EVENTS_PATH,
      ({ request }) =>
        guard.show(request, ({ url, account, stillSignedIn }) => {
          const topic = url.searchParams.get("of");
          if (!isTopic(topic)) {
            throw new AppError("validation_failed", `of is one of ${TOPICS.join(", ")}.`);
          }
          const body = live.open(account.id, topic, { stillSignedIn, gone: request.signal });
          if (body === null) {
            return new Response("Too many pages are open.", {
              status: 503,
              headers: { "retry-after": "30" },
            });
          }
          const headers = {
            "content-type": "text/event-stream",
            "cache-control": "no-store, no-transform",
            // nginx would keep the messages until it has a buffer full of them.
            "x-accel-buffering": "no",
          };
          return new Response(body, { headers });
        }),
      PAGE_ROUTE,
    );
}
