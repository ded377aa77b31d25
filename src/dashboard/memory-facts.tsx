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
/** What a memory has whose importance nobody has set. */
const USUAL_IMPORTANCE = 0.5;

/** Where a memory came from, and what differs from most: nothing is said of what it has not. */
export function MemoryFacts({ memory }: { memory: Memory }): Markup {
  const { id, project, source, agent_id, session_id, importance, metadata } = memory;
  const { created_at, updated_at, expires_at } = memory;
  return (
    <section>
      <h2>Where it came from</h2>
      <dl class="properties">
        {source !== null && (
          <Fact name="Written by">
            <a href={viewPath({ source: source.id })}>
              <bdi>{source.by}</bdi>
            </a>{" "}
            <span class="faint">{WAYS[source.via] ?? source.via}</span>
          </Fact>
        )}
        {project !== null && (
          <Fact name="Project">
            <a href={viewPath({ project })}>
              <bdi>{project}</bdi>
            </a>
          </Fact>
        )}
        {agent_id !== null && (
          <Fact name="Agent">
            <a href={viewPath({ agent_id })}>
              <bdi>{agent_id}</bdi>
            </a>
          </Fact>
        )}
        {session_id !== null && (
          <Fact name="Session">
            <a href={viewPath({ session_id })}>
              <bdi>{session_id}</bdi>
            </a>
          </Fact>
        )}
        <Fact name="Saved">
          <Moment at={new Date(created_at)} exact={true} />
        </Fact>
        {updated_at !== created_at && (
          <Fact name="Changed">
            <Moment at={new Date(updated_at)} exact={true} />
          </Fact>
        )}
        {expires_at !== null && (
          <Fact name="Expires">
            <Moment at={new Date(expires_at)} exact={true} />
          </Fact>
        )}
        {importance !== USUAL_IMPORTANCE && <Fact name="Importance">{importance}</Fact>}
        <Fact name="Id">
          <code>{id}</code>
          <button type="button" class="link" data-copy={id} hidden={true}>
            Copy<span class="hidden-text"> the id</span>
          </button>
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

function Fact({ name, children }: { name: string; children?: Child }): Markup {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
