/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory, MemorySource } from "../../memories/model/memory.ts";
import type { Fading } from "../../memories/ranking/retention.ts";
import { CopyButton } from "../../pages/button.tsx";
import { percent } from "../../text/number-text.ts";
import { viewPath } from "../memories/memories-view.ts";
import { HELP_PATH, projectPath } from "../navigation.tsx";
import { Fact, TimeFact } from "../page.tsx";

const DAY = 86_400_000;
const MONTH = 30 * DAY;

/** In units of the drawing. */
const WIDTH = 240;
const HEIGHT = 64;
const STEPS = 48;

/** The retention of a memory, now and later. */
export function MemoryFading({ memory, fading }: { memory: Memory; fading: Fading }) {
  const { retention, age, halfLife, depth } = fading;
  if (halfLife === null || depth === 0) {
    return (
      <section>
        <h2>Fading</h2>
        <p class="faint">
          {halfLife === null ? "This memory is pinned. It never fades." : "Fading is turned off."}
        </p>
      </section>
    );
  }
  const retentionIn = (later: number) => percent(retention * 2 ** (-later / halfLife));
  return (
    <section>
      <h2>Fading</h2>
      <Curve age={age} halfLife={halfLife} end={endOf(memory, fading)} />
      <dl class="properties">
        <Fact name="Now">{retentionIn(0)}</Fact>
        <Fact name="In 30 days">{retentionIn(MONTH)}</Fact>
        <Fact name="Half-life">{days(halfLife)}</Fact>
      </dl>
      <p class="hint">
        A memory fades from its last change on. Fading lowers its score by at most {percent(depth)},
        so faded memories are still found.{" "}
        <a href={`${HELP_PATH}/search`}>How memories are found</a>
      </p>
    </section>
  );
}

/** The end of the drawing, in milliseconds after the last change: at the latest when the memory expires. */
function endOf({ updated_at, expires_at }: Memory, { age, halfLife }: Fading): number {
  const end = Math.max(2 * (halfLife ?? 0), age + Math.max(MONTH, age / 3));
  const life = expires_at === null ? end : Date.parse(expires_at) - Date.parse(updated_at);
  return Math.max(1, age, Math.min(end, life));
}

/** The retention since the last change and in the future, as a curve. */
function Curve({ age, halfLife, end }: { age: number; halfLife: number; end: number }) {
  const x = (time: number) => round((time / end) * WIDTH);
  const y = (time: number) => round((1 - 2 ** (-time / halfLife)) * HEIGHT);
  const line = (from: number, to: number) =>
    Array.from({ length: STEPS + 1 }, (_, step) => from + ((to - from) * step) / STEPS)
      .map((time, step) => `${step === 0 ? "M" : "L"}${x(time)} ${y(time)}`)
      .join("");
  return (
    <svg class="fading" viewBox={`-4 -4 ${WIDTH + 8} ${HEIGHT + 8}`} aria-hidden="true">
      <path class="fading-past" d={`${line(0, age)}V${HEIGHT}H0Z`} />
      <path class="fading-base" d={`M0 ${HEIGHT}H${WIDTH}`} />
      <path class="fading-line" d={line(0, age)} />
      <path class="fading-line to-come" d={line(age, end)} />
      <circle class="fading-now" cx={`${x(age)}`} cy={`${y(age)}`} r="4" />
    </svg>
  );
}

function days(time: number): string {
  const count = Math.round(time / DAY);
  return `${count.toLocaleString("en")} ${count === 1 ? "day" : "days"}`;
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}

/** How a memory was written. */
const METHODS: Record<MemorySource["via"], string> = {
  api: "over the API",
  mcp: "over MCP",
  dashboard: "in the dashboard",
  import: "by an import",
  capture: "by capture",
};

/** The properties of a memory. Properties with no value are left out. */
export function MemoryProperties({ memory }: { memory: Memory }) {
  const { id, project, source, agent_id, session_id, importance, pinned, metadata } = memory;
  const { created_at, updated_at, expires_at } = memory;
  return (
    <section>
      <h2>Properties</h2>
      <dl class="properties">
        {source !== null && (
          <Fact name="Written by">
            <a href={viewPath({ source: source.id })}>
              <bdi>{source.by}</bdi>
            </a>{" "}
            <span class="faint">{METHODS[source.via] ?? source.via}</span>
          </Fact>
        )}
        {project !== null && (
          <Fact name="Project">
            <a href={projectPath(project)}>
              <bdi>{project}</bdi>
            </a>
          </Fact>
        )}
        {agent_id !== null && <Filtered name="Agent" by={{ agent_id }} />}
        {session_id !== null && <Filtered name="Session" by={{ session_id }} />}
        <TimeFact name="Saved" at={new Date(created_at)} exact={true} />
        {updated_at !== created_at && (
          <TimeFact name="Changed" at={new Date(updated_at)} exact={true} />
        )}
        {expires_at !== null && <TimeFact name="Expires" at={new Date(expires_at)} exact={true} />}
        <Fact name="Importance">
          {importance} {pinned && <span class="badge pinned">Pinned</span>}
        </Fact>
        <Fact name="Id">
          <code class="one-line">{id}</code>
          <CopyButton text={id} label="the id" kind="link" />
        </Fact>
      </dl>
      {Object.keys(metadata).length > 0 && (
        <details>
          <summary>Metadata</summary>
          <pre tabindex={0}>{JSON.stringify(metadata, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}

/** A property with a link to all memories that share it. */
function Filtered({ name, by }: { name: string; by: Readonly<Record<string, string>> }) {
  return (
    <Fact name={name}>
      <a href={viewPath(by)}>
        <bdi>{Object.values(by)[0]}</bdi>
      </a>
    </Fact>
  );
}
