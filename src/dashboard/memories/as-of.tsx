/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Filter } from "../../memories/model/filter.ts";
import { Fragment } from "../../pages/jsx-runtime.ts";
import { dayText } from "../../pages/moment.tsx";
import { parseEnd } from "../../text/input-kinds.ts";

/**
 * The `as_of` of an address, if it is a day that is over in UTC; else empty, for the present.
 * @param now milliseconds since 1970
 */
export function pastDay(parameters: URLSearchParams, now: number): string {
  const day = parameters.get("as_of") ?? "";
  const end = parseEnd(day) ?? now;
  return /^\d{4}-\d{2}-\d{2}$/.test(day) && end < now ? day : "";
}

/** The filter of a day; none for the present. */
export function knownOn(day: string): Pick<Filter, "knownAt"> {
  const knownAt = parseEnd(day);
  return knownAt === undefined ? {} : { knownAt };
}

/**
 * Says that a page shows a day in the past, with the way back. Renders nothing for the present.
 * @param back the address of the page without the day
 */
export function AsOf({ day, back }: { day: string; back: string }) {
  if (day === "") return Fragment({});
  return (
    <p class="hint chips">
      <a class="badge chip" href={back}>
        <span class="hidden-text">Back to today. Now: </span>
        {`As of ${dayText(day, { withYear: true, isLong: true })}`}
      </a>
      <span>
        What was known at the end of that day in UTC. Changed texts are marked, and deleted ones are
        missing. <a href={back}>Back to today</a>
      </span>
    </p>
  );
}
