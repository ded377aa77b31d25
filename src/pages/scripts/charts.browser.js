// Draws the charts of the overview. Without it their tables say the same.

const DAY = 86_400;

/** Colours as the stylesheet gives them for the present scheme. */
function colours(element) {
  const style = getComputedStyle(element);
  return { ink: style.color, text: style.getPropertyValue("text-decoration-color") };
}

function axis(text, options) {
  return { stroke: text, grid: { stroke: text, width: 0.3 }, ticks: { show: false }, ...options };
}

/** Distances between the lines of an axis that counts memories. */
const STEPS = Array.from({ length: 8 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();
/** From nothing to the most, with some room above; few are not to look like many. */
const upTo = (_, __, most) => [0, Math.max(5, most * 1.05)];

const days = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const dayOf = (time) => days.format(new Date(time * 1000));

const note = (element, text) => {
  element.closest("figure").querySelector(".chart-note").textContent = text;
};

/** How many there are after each day, and how many came on it. */
function growth(element, { memories, days }) {
  const { ink, text } = colours(element);
  const known = new Map(days.map(({ day, memories: count }) => [Date.parse(day) / 1000, count]));
  const first = Math.min(...known.keys());
  // At least a fortnight, so that a first day is no bar as wide as the chart.
  const last = Math.max(...known.keys());
  const times = [];
  for (let time = Math.min(first, last - 13 * DAY); time <= last; time += DAY) times.push(time);
  const added = times.map((time) => known.get(time) ?? 0);
  let total = memories - added.reduce((sum, count) => sum + count, 0);
  const totals = added.map((count) => {
    total += count;
    return total;
  });
  return {
    data: [times, totals, added],
    options: {
      tzDate: (time) => uPlot.tzDate(new Date(time * 1000), "UTC"),
      scales: { total: { range: upTo }, added: { range: upTo } },
      axes: [
        axis(text, { grid: { show: false }, size: 32, values: (_, all) => all.map(dayOf) }),
        axis(text, { scale: "total", size: 60, incrs: STEPS }),
        axis(text, { scale: "added", side: 1, grid: { show: false }, size: 50, incrs: STEPS }),
      ],
      series: [
        {},
        { scale: "total", stroke: ink, width: 2, points: { show: false } },
        {
          scale: "added",
          fill: ink,
          paths: uPlot.paths.bars({ size: [0.7, 24] }),
          points: { show: false },
          alpha: 0.35,
        },
      ],
      hooks: {
        setCursor: [
          ({ cursor: { idx } }) => {
            if (idx == null) return;
            const day = new Date(times[idx] * 1000).toISOString().slice(0, 10);
            note(element, `${day}: ${added[idx]} saved, ${totals[idx]} in all`);
          },
        ],
      },
    },
  };
}

/** Memories by age and importance: the fainter, the less is left of them. */
function fading(element, { fading: cells }) {
  const { ink, text } = colours(element);
  const sorted = [...cells].sort((a, b) => a.age_days - b.age_days);
  const radiusOf = ({ memories }) => Math.min(14, 4 + Math.log2(memories));
  const place = (chart, { age_days, importance }) => [
    chart.valToPos(age_days, "x", true),
    chart.valToPos(importance, "y", true),
  ];
  const draw = (chart) => {
    const { ctx } = chart;
    ctx.save();
    ctx.fillStyle = ink;
    ctx.strokeStyle = ink;
    for (const cell of sorted) {
      const [x, y] = place(chart, cell);
      ctx.beginPath();
      ctx.arc(x, y, radiusOf(cell) * devicePixelRatio, 0, 2 * Math.PI);
      ctx.globalAlpha = 0.05 + 0.9 * cell.retention;
      ctx.fill();
      // An outline, so that what has faded is not gone from the chart.
      ctx.globalAlpha = 0.5;
      ctx.stroke();
    }
    ctx.restore();
  };
  const nearest = (chart) => {
    const { left, top } = chart.cursor;
    const far = (cell) =>
      Math.hypot(
        chart.valToPos(cell.age_days, "x") - left,
        chart.valToPos(cell.importance, "y") - top,
      );
    return sorted.reduce((best, cell) => (far(cell) < far(best) ? cell : best));
  };
  return {
    data: [sorted.map(({ age_days }) => age_days), sorted.map(({ importance }) => importance)],
    options: {
      scales: {
        x: {
          time: false,
          range: (_, __, oldest) => [-0.03 * Math.max(oldest, 1), 1.03 * Math.max(oldest, 1)],
        },
        y: { range: [-0.08, 1.08] },
      },
      axes: [
        axis(text, { label: "Age in days", labelSize: 24, size: 32 }),
        axis(text, {
          label: "Importance",
          labelSize: 24,
          splits: [0, 0.25, 0.5, 0.75, 1],
          values: (_, all) => all.map((value) => value.toFixed(2)),
        }),
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: {
        draw: [draw],
        setCursor: [
          (chart) => {
            if (chart.cursor.left < 0) return;
            const { memories, age_days, importance, retention } = nearest(chart);
            const what = memories === 1 ? "1 memory" : `${memories} memories`;
            note(
              element,
              `${what}, ${Math.round(age_days)} days old, importance ${importance.toFixed(2)}: ${Math.round(100 * retention)} % left`,
            );
          },
        ],
      },
    },
  };
}

const KINDS = { growth, fading };

function show(element, stats) {
  const { data, options } = KINDS[element.dataset.chart](element, stats);
  const size = () => ({ width: element.clientWidth, height: 260 });
  const chart = new uPlot(
    {
      ...options,
      ...size(),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    },
    data,
    element,
  );
  const observer = new ResizeObserver(() => chart.setSize(size()));
  observer.observe(element);
  return () => {
    observer.disconnect();
    chart.destroy();
  };
}

async function start() {
  const elements = [...document.querySelectorAll("[data-chart]")];
  if (elements.length === 0) return;
  const response = await fetch("/api/stats");
  if (!response.ok) return;
  const stats = await response.json();
  if (stats.memories === 0) return;
  let shown = [];
  const showAll = () => {
    for (const remove of shown) remove();
    for (const element of elements) element.hidden = false;
    shown = elements.map((element) => show(element, stats));
  };
  showAll();
  for (const element of elements) {
    element.closest("figure").querySelector("details").open = false;
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showAll);
}

start();
