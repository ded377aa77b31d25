/** A row of points, drawn as a line, or as dots where a line would hide them. */
export interface Series {
  readonly label: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly as: "line" | "dots";
}

export interface Chart {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly series: readonly Series[];
}

const WIDTH = 720;
const HEIGHT = 400;
const LEFT = 56;
const RIGHT = WIDTH - 24;
const TOP = 72;
const BOTTOM = HEIGHT - 52;
/** Told apart by people who do not see red or green, too (Okabe and Ito). */
export const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];

/** Of a light or a dark page, as the reader has it. */
export const STYLE = `
  svg { font: 13px system-ui, sans-serif; background: #fff; --ink: #222; --grid: #ddd }
  @media (prefers-color-scheme: dark) { svg { background: #16181c; --ink: #ddd; --grid: #383c44 } }
  text { fill: var(--ink, #222) } .title { font-size: 16px; font-weight: 600 }
  .end { text-anchor: end } .middle { text-anchor: middle }
  .grid { stroke: var(--grid, #ddd) } .line { fill: none; stroke-width: 2 }`;

/** Draws a chart as one SVG file that needs nothing else, with both axes from zero. */
export function drawChart({ title, xLabel, yLabel, series }: Chart): string {
  const points = series.flatMap((row) => row.points);
  const xTicks = ticks(Math.max(...points.map(([x]) => x), 1), 8);
  const yTicks = ticks(Math.max(...points.map(([, y]) => y), 1), 6);
  const x = scale(xTicks, LEFT, RIGHT);
  const y = scale(yTicks, BOTTOM, TOP);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>${escapeXml(title)}</title><style>${STYLE}</style>`,
    `<text class="title" x="${LEFT}" y="26">${escapeXml(title)}</text>`,
    ...yTicks.flatMap((tick) => [
      `<line class="grid" x1="${LEFT}" x2="${RIGHT}" y1="${y(tick)}" y2="${y(tick)}"/>`,
      `<text class="end" x="${LEFT - 8}" y="${y(tick) + 4}">${format(tick)}</text>`,
    ]),
    ...xTicks.map(
      (tick) => `<text class="middle" x="${x(tick)}" y="${BOTTOM + 20}">${format(tick)}</text>`,
    ),
    `<text class="middle" x="${(LEFT + RIGHT) / 2}" y="${HEIGHT - 10}">${escapeXml(xLabel)}</text>`,
    `<text x="${LEFT - 40}" y="${TOP - 12}">${escapeXml(yLabel)}</text>`,
    ...series.flatMap((row, index) => drawSeries(row, index, x, y)),
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}

type Scale = (value: number) => number;

function drawSeries({ label, points, as }: Series, index: number, x: Scale, y: Scale): string[] {
  const colour = COLOURS[index % COLOURS.length];
  const at = points.map(([px, py]) => `${x(px)},${y(py)}`);
  const drawn = points.map(
    ([px, py]) =>
      `<circle cx="${x(px)}" cy="${y(py)}" r="${as === "line" ? 3 : 1.5}" fill="${colour}"/>`,
  );
  const line = `<polyline class="line" stroke="${colour}" points="${at.join(" ")}"/>`;
  // The legend: one entry beside the other above the plot.
  const left = LEFT + 40 + index * 160;
  return [
    ...(as === "line" ? [line] : []),
    ...drawn,
    `<rect x="${left}" y="${TOP - 23}" width="12" height="12" fill="${colour}"/>`,
    `<text x="${left + 18}" y="${TOP - 12}">${escapeXml(label)}</text>`,
  ];
}

/** Round numbers from zero to the first that is not below `most`. */
export function ticks(most: number, count: number): number[] {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  // Counted, not summed: tenths do not add up exactly.
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) =>
    Number((index * step).toPrecision(6)),
  );
}

function scale(values: readonly number[], from: number, to: number): Scale {
  const most = values.at(-1) ?? 1;
  return (value) => Number((from + (value / most) * (to - from)).toFixed(1));
}

function format(value: number): string {
  return value.toLocaleString("en");
}

export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
