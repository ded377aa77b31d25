/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Markup } from "./jsx-runtime.ts";

/** A moment in UTC, which becomes the reader's own time where scripts run. */
export function Moment({ at, none = "never" }: { at: Date | null; none?: string }): Markup {
  if (at === null) return <span class="faint">{none}</span>;
  const iso = at.toISOString();
  return <time datetime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}</time>;
}
