/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory, MemorySource } from "../../memories/model/memory.ts";
import type { Child, Markup } from "../../pages/jsx-runtime.ts";
import { Moment } from "../../pages/moment.tsx";
import { viewPath } from "../memories/memories-view.ts";
import { DEFAULT_IMPORTANCE } from "./memory-form.ts";

/** How a memory was written. */
const METHODS: Record<MemorySource["via"], string> = {
  api: "over the API",
  mcp: "over MCP",
  dashboard: "in the dashboard",
  import: "by an import",
  capture: "by capture",
};

/** The properties of a memory. Properties with no value or the default value are left out. */
export function MemoryProperties({ memory }: { memory: Memory }): Markup {
  const { id, project, source, agent_id, session_id, importance, metadata } = memory;
  const { created_at, updated_at, expires_at } = memory;
  return (
    <section>
      <h2>Properties</h2>
      <dl class="properties">
        {source !== null && (
          <Property name="Written by">
            <a href={viewPath({ source: source.id })}>
              <bdi>{source.by}</bdi>
            </a>{" "}
            <span class="faint">{METHODS[source.via] ?? source.via}</span>
          </Property>
        )}
        {project !== null && (
          <Property name="Project">
            <a href={viewPath({ project })}>
              <bdi>{project}</bdi>
            </a>
          </Property>
        )}
        {agent_id !== null && (
          <Property name="Agent">
            <a href={viewPath({ agent_id })}>
              <bdi>{agent_id}</bdi>
            </a>
          </Property>
        )}
        {session_id !== null && (
          <Property name="Session">
            <a href={viewPath({ session_id })}>
              <bdi>{session_id}</bdi>
            </a>
          </Property>
        )}
        <Property name="Saved">
          <Moment at={new Date(created_at)} exact={true} />
        </Property>
        {updated_at !== created_at && (
          <Property name="Changed">
            <Moment at={new Date(updated_at)} exact={true} />
          </Property>
        )}
        {expires_at !== null && (
          <Property name="Expires">
            <Moment at={new Date(expires_at)} exact={true} />
          </Property>
        )}
        {importance !== DEFAULT_IMPORTANCE && <Property name="Importance">{importance}</Property>}
        <Property name="Id">
          <code>{id}</code>
          <button type="button" class="link" data-copy={id} hidden={true}>
            Copy<span class="hidden-text"> the id</span>
          </button>
        </Property>
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

function Property({ name, children }: { name: string; children?: Child }): Markup {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
