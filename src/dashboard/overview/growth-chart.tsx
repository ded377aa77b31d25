/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Table } from "../../pages/table.tsx";
import { dayText } from "../day-text.ts";
import { PATHS } from "../navigation.tsx";
import { type Growth, roundedUp, SPANS, type Span } from "./growth.ts";

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
}): Markup {
  const added = growth.reduce((sum, each) => sum + each.added, 0);
  const most = roundedUp(Math.max(10, ...growth.map(({ total }) => total)));
  return (
    <section class="panel growth">
      <div class="growth-head">
        <h2>Growth</h2>
        <p class="faint">{`${added.toLocaleString("en")} saved in this period`}</p>
        <nav class="tabs" aria-label="Period">
          <ul>
            {SPANS.map((each) => (
              <li>
                <a
                  class="tab"
                  href={`${PATHS.overview}?span=${each}`}
                  aria-current={each === span ? "true" : undefined}
                >
                  {LABELS[each]}
                </a>
              </li>
            ))}
          </ul>
        </nav>
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
            { title: "When (UTC)", isHeader: true, cell: periodOf },
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

function Plot({ growth, most }: { growth: readonly Growth[]; most: number }): Markup {
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

function periodOf({ from, to }: Growth): string {
  return from === to ? from : `${from} to ${to}`;
}
