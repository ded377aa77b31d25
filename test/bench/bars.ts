import { COLOURS, escapeXml, STYLE } from "./chart.ts";

/** Bars side by side: a row for each thing that is compared, a column for each figure, with a scale of its own. */
export interface Bars {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly label: string;
    /** Whether it is shown in another colour. */
    readonly isOurs: boolean;
    readonly cells: readonly { readonly value: number; readonly text: string }[];
  }[];
}

const [WIDTH, LEFT, TOP, ROW, BAR] = [760, 140, 72, 30, 14];
/** Room for the figure beside a bar. */
const FIGURE = 68;
const OTHERS = "#8a9099";

/** Draws bars as one SVG file that needs nothing else, from zero to the largest of each column. */
export function drawBars({ title, columns, rows }: Bars): string {
  const step = (WIDTH - LEFT) / columns.length;
  const longest = columns.map((_, at) =>
    Math.max(...rows.map(({ cells }) => cells[at]?.value ?? 0)),
  );
  const left = (at: number) => LEFT + at * step;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${TOP + rows.length * ROW}" role="img">`,
    `<title>${escapeXml(title)}</title><style>${STYLE}</style>`,
    `<text class="title" x="12" y="26">${escapeXml(title)}</text>`,
    ...columns.map((name, at) => `<text x="${left(at)}" y="${TOP - 14}">${escapeXml(name)}</text>`),
    ...rows.flatMap(({ label, isOurs, cells }, row) => {
      const y = TOP + row * ROW;
      const colour = isOurs ? COLOURS[0] : OTHERS;
      return [
        `<text x="12" y="${y + BAR - 2}">${escapeXml(label)}</text>`,
        ...cells.flatMap(({ value, text }, at) => {
          const share = value / (longest[at] || 1);
          const width = Number(Math.max(1, share * (step - FIGURE)).toFixed(1));
          return [
            `<rect x="${left(at)}" y="${y}" width="${width}" height="${BAR}" fill="${colour}"/>`,
            `<text x="${left(at) + width + 5}" y="${y + BAR - 2}">${escapeXml(text)}</text>`,
          ];
        }),
      ];
    }),
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}
