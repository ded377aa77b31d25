/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory, MemorySource } from "../memories/memory.ts";
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { viewPath } from "./memories-view.ts";

/** The ways by which a memory comes, as people call them. */
const WAYS: Record<MemorySource["via"], string> = {
  api: "over the API",
  mcp: "as an agent",
  dashboard: "in the dashboard",
  import: "by an import",
  capture: "by capture",
};

/** What is known about a memory besides what its form has. */
export function MemoryFacts({
  memory: { id, created_at, updated_at, pinned, project, source },
  retention,
}: {
  memory: Memory;
  /** What is left of it at its age, 0 to 1. */
  retention: number;
}): Markup {
  return (
    <dl class="panel">
      <Fact name="Id">
        <code>{id}</code>
      </Fact>
      <Fact name="Saved">
        <Moment at={new Date(created_at)} />
      </Fact>
      <Fact name="Changed">
        <Moment at={new Date(updated_at)} />
      </Fact>
      <Fact name="Retention">
        {`${Math.round(100 * retention)} %: `}
        <span class="faint">
          {pinned ? "it is pinned" : "falls with age, slower the more important it is"}
        </span>
      </Fact>
      {project !== null && (
        <Fact name="Project">
          <a href={viewPath({ project })}>
            <bdi>{project}</bdi>
          </a>
        </Fact>
      )}
      {source !== null && (
        <Fact name="Written by">
          <a href={viewPath({ source: source.id })}>
            <bdi>{source.by}</bdi>
          </a>{" "}
          <span class="faint">{WAYS[source.via] ?? source.via}</span>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children?: Child }): Markup {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
