/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button } from "../../pages/button.tsx";
import { Choice, Field, Select } from "../../pages/field.tsx";
import type { Child } from "../../pages/jsx-runtime.ts";
import { PATHS } from "../navigation.tsx";
import { ONLY, type Source, type View, viewPath } from "./memories-view.ts";
import { PROJECT_NAMES } from "./project-switch.tsx";

/** The search form. With scripts, results appear while the person types. Sent, the question counts as asked. */
export function SearchForm({
  view,
  sources,
  accountId,
}: {
  view: View;
  sources: readonly Source[];
  accountId: string;
}) {
  return (
    <search>
      <form method="get" action={PATHS.memories} class="memory-search">
        {view.project !== "" && <input type="hidden" name="project" value={view.project} />}
        {view.unfiled !== "" && <input type="hidden" name="unfiled" value={view.unfiled} />}
        {view.sort !== "" && <input type="hidden" name="sort" value={view.sort} />}
        <div class="search-line">
          <Field
            label="Search"
            name="q"
            type="search"
            value={view.q}
            maxlength={2000}
            autocomplete="off"
            placeholder="What do I know about…"
          />
          <Button>Search</Button>
        </div>
        <details>
          <summary>Filters</summary>
          <Filters view={view} sources={sources} />
          <a href={viewPath({ project: view.project, unfiled: view.unfiled })}>Show all memories</a>
        </details>
      </form>
      <nav
        class="searches"
        id="searches"
        aria-label="Saved searches"
        data-account={accountId}
        hidden={true}
      />
    </search>
  );
}

function Filters({ view, sources }: { view: View; sources: readonly Source[] }) {
  const entry = (name: keyof View) => ({ name, value: view[name] });
  const isListed = view.source === "" || sources.some(({ id }) => id === view.source);
  return (
    <>
      <div class="row">
        <Field
          label="Tags"
          {...entry("tags")}
          hint="Separated by commas. One must match"
          autocomplete="off"
          list={TAGS}
        />
        <Field label="Agent" {...entry("agent_id")} autocomplete="off" list={AGENTS} />
        <Field label="Session" {...entry("session_id")} autocomplete="off" />
        <Select
          label="Written by"
          {...entry("source")}
          options={[
            ["", "anyone"],
            ...sources.map(({ id, name }) => [id, name] as const),
            ...(isListed ? [] : [[view.source, view.source] as const]),
          ]}
        />
        <Select
          label="Kind"
          {...entry("captured")}
          options={[
            ["", "all"],
            ["false", "saved"],
            ["true", "captured from conversations"],
          ]}
        />
        <Select
          label="Only"
          {...entry("only")}
          options={[
            ["", "all"],
            ...Object.entries(ONLY).map(([name, { label }]) => [name, label] as const),
          ]}
        />
        <Field label="Saved from" type="date" {...entry("from")} />
        <Field label="Saved to" type="date" {...entry("to")} hint="Days in UTC" />
        <Field
          label="As of"
          type="date"
          {...entry("as_of")}
          hint="What was known at the end of a day"
        />
      </div>
      <Choice name="history" value="1" checked={view.history !== ""}>
        Include superseded memories
      </Choice>
    </>
  );
}

/** The buttons and fields for the selected memories, at the end of the list's form. */
export function SelectionFields({
  hasMore,
}: {
  /** Whether the list has other pages, whose memories can be included. */
  hasMore: boolean;
}) {
  return (
    <fieldset class="selection panel">
      <legend class="hidden-text">With the selected memories</legend>
      <p class="selection-count" />
      {hasMore && (
        <Choice name="all" value="1">
          Move, export or delete all memories that match these filters, on other pages too
        </Choice>
      )}
      <div class="pair">
        <Field label="Tag" name="tag" maxlength={64} autocomplete="off" list={TAGS} />
        <Action does="tag">Add tag</Action>
        <Action does="untag">Remove tag</Action>
      </div>
      <div class="pair">
        <Field
          label="Project"
          name="to_project"
          maxlength={128}
          autocomplete="off"
          list={PROJECT_NAMES}
          placeholder="none"
        />
        <Action does="move">Move</Action>
      </div>
      <details>
        <summary>More</summary>
        <div class="row">
          <div class="pair">
            <Field label="Importance, 0 to 1" name="to_importance" type="number" {...UNIT} />
            <Action does="importance">Set importance</Action>
          </div>
          <div class="pair">
            <Field label="Expires (empty: never)" name="to_expiry" type="date" />
            <Action does="expiry">Set expiry</Action>
          </div>
        </div>
      </details>
      <div class="pair ends">
        <Action does="pin">Pin</Action>
        <Action does="unpin">Unpin</Action>
        <Action does="export">Export</Action>
        <Action does="delete" kind="danger">
          Delete
        </Action>
      </div>
    </fieldset>
  );
}

const UNIT = { min: "0", max: "1", step: "any" };

/** A button that does something with the selected memories. */
function Action({ does, kind, children }: { does: string; kind?: "danger"; children?: Child }) {
  return (
    <Button name="action" value={does} {...(kind && { kind })}>
      {children}
    </Button>
  );
}

/** Suggestions of a field: each makes the page larger. */
const MAX_SUGGESTIONS = 15;
/** Ids of the `datalist`s of frequent tags and agents. */
const TAGS = "tags-list";
const AGENTS = "agents-list";

/** Frequent tags and agents. */
export interface Suggested {
  tags: readonly string[];
  agents: readonly string[];
}

/** What fields suggest. */
export function Suggestions({
  tags = [],
  agents = [],
  projects,
}: Partial<Suggested> & { projects: readonly string[] }) {
  const lists = [
    [TAGS, tags] as const,
    [AGENTS, agents] as const,
    [PROJECT_NAMES, projects] as const,
  ];
  return (
    <>
      {lists.map(([id, values]) => (
        <datalist id={id}>
          {values.slice(0, MAX_SUGGESTIONS).map((value) => (
            <option>{value}</option>
          ))}
        </datalist>
      ))}
    </>
  );
}
