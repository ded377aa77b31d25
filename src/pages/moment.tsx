/** @jsxRuntime automatic @jsxImportSource #pages */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** From this distance on, the date is shown instead of the distance. */
const WEEK = 7 * DAY;

/**
 * A time as text, such as `3 h ago`, with the exact time in UTC as a tooltip. With scripts, times are in the time zone
 * of the browser.
 */
export function Moment({
  at,
  none = "never",
  exact = false,
  now = Date.now(),
}: {
  at: Date | null;
  none?: string;
  /** Whether to show the exact time instead. */
  exact?: boolean;
  /** Milliseconds since 1970. */
  now?: number;
}) {
  if (at === null) return <span class="faint">{none}</span>;
  const iso = at.toISOString();
  const full = `${dayText(at, { withYear: true })}, ${iso.slice(11, 16)} UTC`;
  if (exact) return <time datetime={iso}>{full}</time>;
  return (
    <time datetime={iso} title={full} data-said={true}>
      {relativeText(at, now)}
    </time>
  );
}

/** The distance from now, or the date in UTC beyond a week. `moments.browser.js` does the same. */
function relativeText(at: Date, now: number): string {
  const distance = Math.abs(now - at.getTime());
  if (distance < MINUTE) return "just now";
  if (distance >= WEEK) {
    const isThisYear = at.getUTCFullYear() === new Date(now).getUTCFullYear();
    return dayText(at, { withYear: !isThisYear });
  }
  const units = [["d", DAY] as const, ["h", HOUR] as const, ["min", MINUTE] as const];
  const [unit, length] = units.find(([, each]) => distance >= each) ?? ["min", MINUTE];
  const amount = `${Math.floor(distance / length)} ${unit}`;
  return at.getTime() > now ? `in ${amount}` : `${amount} ago`;
}

/** A day as text, in UTC: `22 Nov`, or `22 Nov 2026` with the year. Empty without a day. @param isLong `22 November` */
export function dayText(
  day: Date | string | undefined,
  { withYear = false, isLong = false } = {},
): string {
  if (day === undefined) return "";
  return new Date(day).toLocaleDateString("en-GB", {
    timeZone: "UTC",
    day: "numeric",
    month: isLong ? "long" : "short",
    ...(withYear && { year: "numeric" }),
  });
}
