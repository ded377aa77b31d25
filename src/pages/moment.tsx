/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Markup } from "./jsx-runtime.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Milliseconds from which on a date says more than how long ago it was. */
const WEEK = 7 * DAY;

/**
 * A moment as people say it, and exactly for who points at it: in UTC, which becomes the reader's own time
 * where scripts run.
 */
export function Moment({
  at,
  none = "never",
  exact = false,
  now = Date.now(),
}: {
  at: Date | null;
  none?: string;
  /** Whether the time of day matters where it stands. */
  exact?: boolean;
  /** Milliseconds since 1970. */
  now?: number;
}): Markup {
  if (at === null) return <span class="faint">{none}</span>;
  const iso = at.toISOString();
  const full = `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
  if (exact) return <time datetime={iso}>{full}</time>;
  return (
    <time datetime={iso} title={full} data-said={true}>
      {said(at, now)}
    </time>
  );
}

/** How long ago a moment was, or is to come; beyond a week its date in UTC. The pages' script does the same. */
function said(at: Date, now: number): string {
  const distance = Math.abs(now - at.getTime());
  if (distance < MINUTE) return "just now";
  if (distance >= WEEK) {
    const isThisYear = at.getUTCFullYear() === new Date(now).getUTCFullYear();
    return at.toLocaleDateString("en-GB", {
      ...{ timeZone: "UTC", day: "numeric", month: "short" },
      ...(!isThisYear && { year: "numeric" }),
    });
  }
  const units = [["d", DAY] as const, ["h", HOUR] as const, ["min", MINUTE] as const];
  const [unit, length] = units.find(([, each]) => distance >= each) ?? ["min", MINUTE];
  const amount = `${Math.floor(distance / length)} ${unit}`;
  return at.getTime() > now ? `in ${amount}` : `${amount} ago`;
}
