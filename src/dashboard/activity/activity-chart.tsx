/** @jsxRuntime automatic @jsxImportSource #pages */

import { dayText } from "../../pages/moment.tsx";
import { Table } from "../../pages/table.tsx";
import { percent } from "../../text/number-text.ts";
import type { Bar } from "./activity-view.ts";

/** In units of the drawing: width of a bar with its gap, the gap, and height of the tallest bar. */
const STEP = 10;
const GAP = 2;
const HEIGHT = 100;

/** A bar chart of memories saved and questions asked per day or week, drawn on the server, and the same as a table. */
export function ActivityChart({
  bars,
  found,
  unit,
}: {
  /** The oldest first. */
  bars: readonly Bar[];
  /** Questions that found something. */
  found: number;
  unit: "day" | "week";
}) {
  const total = (of: (bar: Bar) => number) => bars.reduce((sum, bar) => sum + of(bar), 0);
  const [saved, asked] = [total((bar) => bar.saved), total((bar) => bar.asked)];
  const most = Math.max(1, ...bars.map((bar) => bar.saved + bar.asked));
  const busy = bars.filter((bar) => bar.saved + bar.asked > 0);
  return (
    <>
      <ul class="activity-legend">
        <li>
          <span class="activity-swatch part-saved" /> <strong>{saved.toLocaleString("en")}</strong>{" "}
          saved
        </li>
        <li>
          <span class="activity-swatch part-asked" /> <strong>{asked.toLocaleString("en")}</strong>{" "}
          asked
          {asked > 0 && `, ${percent(Math.min(1, found / asked))} found something`}
        </li>
      </ul>
      <svg
        class="activity-bars"
        viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {bars.map((bar, place) => (
          <Column bar={bar} x={place * STEP} most={most} />
        ))}
      </svg>
      <p class="activity-bars-ends faint" aria-hidden="true">
        <span>{dayText(bars[0]?.day)}</span>
        <span>{dayText(bars.at(-1)?.day)}</span>
      </p>
      <details>
        <summary>As a table</summary>
        <Table
          caption={`By ${unit}`}
          rows={busy.toReversed()}
          columns={[
            {
              title: unit === "day" ? "Day (UTC)" : "Week from (UTC)",
              cell: ({ day }) => dayText(day, { withYear: true }),
            },
            { title: "Saved", isNumber: true, cell: (bar) => bar.saved.toLocaleString("en") },
            { title: "Asked", isNumber: true, cell: (bar) => bar.asked.toLocaleString("en") },
          ]}
        />
      </details>
    </>
  );
}

function Column({ bar, x, most }: { bar: Bar; x: number; most: number }) {
  const heightOf = (amount: number) => Math.round((amount / most) * HEIGHT * 10) / 10;
  const [saved, asked] = [heightOf(bar.saved), heightOf(bar.asked)];
  const width = STEP - GAP;
  return (
    <g>
      <title>{`${dayText(bar.day, { withYear: true })}: ${bar.saved} saved, ${bar.asked} asked`}</title>
      <rect class="part-all" x={x} y={0} width={STEP} height={HEIGHT} />
      {saved > 0 && (
        <rect class="part-saved" x={x} y={HEIGHT - saved} width={width} height={saved} />
      )}
      {asked > 0 && (
        <rect class="part-asked" x={x} y={HEIGHT - saved - asked} width={width} height={asked} />
      )}
    </g>
  );
}
