/** @jsxRuntime automatic @jsxImportSource #pages */
import { dayOf } from "../../activity/action.ts";
import type { Stats } from "../../memories/rules/stats.ts";
import { dayText } from "../../pages/moment.tsx";
import { Table } from "../../pages/table.tsx";
import { PATHS, Tabs } from "../navigation.tsx";

const DAY = 86_400_000;

/** Periods of the growth chart, as the address names them. */
export const SPANS = ["month", "year", "all"] as const;
type Span = (typeof SPANS)[number];

const MAX_POINTS = 60;
const MIN_DAYS = 14;

type Growth = ReturnType<typeof growthOf>[number];

/**
 * The growth of an account up to today in periods, oldest first.
 * @param now milliseconds since 1970
 * @returns the first and the last day of each in UTC, such as `2026-11-21`, how many memories were saved in it, and how
 *   many there were at its end
 */
export function growthOf(
  { days, memories }: Pick<Stats, "days" | "memories">,
  span: Span,
  now: number,
) {
  const known = days.map(({ day, memories }) => ({ day: Date.parse(day) / DAY, memories }));
  // After the clock was set back, some memories have dates in the future.
  const today = Math.max(Math.floor(now / DAY), known.at(-1)?.day ?? 0);
  const all = Math.max(MIN_DAYS, today - (known[0]?.day ?? today) + 1);
  const length = { month: 30, year: 364, all }[span];
  const step = Math.ceil(length / MAX_POINTS);
  const points = Math.ceil(length / step);
  const first = today - points * step + 1;
  const added = new Array<number>(points).fill(0);
  for (const { day, memories } of known) {
    const point = Math.floor((day - first) / step);
    if (point >= 0) added[point] = (added[point] ?? 0) + memories;
  }
  let total = memories - added.reduce((sum, count) => sum + count, 0);
  return added.map((count, point) => {
    total += count;
    const from = first + point * step;
    return { from: dayOf(from * DAY), to: dayOf((from + step - 1) * DAY), added: count, total };
  });
}

/** The next round number that can be halved. */
export function roundedUp(number: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, number)));
  return (
    [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((times) => times * power).find((each) => each >= number) ??
    number
  );
}

/** In units of the drawing: the width of a point, and the height. */
const STEP = 10;
const HEIGHT = 100;
const LABELS: Record<Span, string> = { month: "30 days", year: "1 year", all: "All" };

/** A chart of the number of memories over time, drawn on the server, and the same as a table. */
export function GrowthChart({
  growth,
  span,
}: {
  /** The oldest first; at least one. */
  growth: readonly Growth[];
  span: Span;
}) {
  const added = growth.reduce((sum, each) => sum + each.added, 0);
  const most = roundedUp(Math.max(10, ...growth.map(({ total }) => total)));
  return (
    <section class="panel growth">
      <div class="growth-head">
        <h2>Growth</h2>
        <p class="faint">{`${added.toLocaleString("en")} saved in this period`}</p>
        <Tabs
          label="Period"
          of="views"
          tabs={SPANS.map((each) => [pathOf(each), LABELS[each]])}
          current={pathOf(span)}
        />
      </div>
      <div class="growth-plot">
        <p class="growth-scale" aria-hidden="true">
          <span>{most.toLocaleString("en")}</span>
          <span>{(most / 2).toLocaleString("en")}</span>
          <span>0</span>
        </p>
        <Plot growth={growth} most={most} />
      </div>
      <p class="growth-ends faint" aria-hidden="true">
        <span>{dayText(growth[0]?.from, { withYear: true })}</span>
        <span>{dayText(growth.at(-1)?.to, { withYear: true })}</span>
      </p>
      <details>
        <summary>As a table</summary>
        <Table
          caption="Growth"
          rows={growth.filter(({ added }) => added > 0).toReversed()}
          columns={[
            { title: "When (UTC)", cell: periodOf },
            {
              title: "Saved",
              isNumber: true,
              cell: ({ added }) => added.toLocaleString("en"),
            },
            {
              title: "Total",
              isNumber: true,
              cell: ({ total }) => total.toLocaleString("en"),
            },
          ]}
        />
      </details>
    </section>
  );
}

function Plot({ growth, most }: { growth: readonly Growth[]; most: number }) {
  const y = (total: number) => Math.round((1 - total / most) * HEIGHT * 10) / 10;
  const line = growth
    .map(({ total }, place) => `${place === 0 ? "M" : "L"}${(place + 0.5) * STEP} ${y(total)}`)
    .join("");
  const end = (growth.length - 0.5) * STEP;
  return (
    <svg
      viewBox={`0 0 ${growth.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {[0, HEIGHT / 2, HEIGHT].map((each) => (
        <path class="growth-grid" d={`M0 ${each}H${growth.length * STEP}`} />
      ))}
      <path class="growth-area" d={`${line}L${end} ${HEIGHT}L${STEP / 2} ${HEIGHT}Z`} />
      <path class="growth-line" d={line} />
      {growth.map((each, place) => (
        <rect class="growth-point" x={place * STEP} y={0} width={STEP} height={HEIGHT}>
          <title>{`${periodOf(each)}: ${each.added.toLocaleString("en")} saved, ${each.total.toLocaleString("en")} in total`}</title>
        </rect>
      ))}
    </svg>
  );
}

function pathOf(span: Span): string {
  return `${PATHS.overview}?span=${span}`;
}

function periodOf({ from, to }: Growth): string {
  const [first, last] = [dayText(from, { withYear: true }), dayText(to, { withYear: true })];
  return from === to ? first : `${first} to ${last}`;
}
