/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button } from "../../pages/button.tsx";
import { Choice, Field, Select } from "../../pages/field.tsx";
import { PATHS } from "../navigation.tsx";
import { hasFilters, type Source, type View, viewPath } from "./memories-view.ts";
import { PROJECT_NAMES } from "./project-switch.tsx";

/** The search form. With scripts, results appear while the person types. */
export function SearchForm({ view, sources }: { view: View; sources: readonly Source[] }) {
  return (
    <search>
      <form
        method="get"
        action={PATHS.memories}
        class="memory-search"
        hx-get={PATHS.memories}
        hx-trigger="input delay:250ms, submit"
        hx-target="#results"
        hx-select="#results"
        hx-swap="outerHTML"
        hx-sync="this:replace"
        hx-replace-url="true"
      >
        {view.project !== "" && <input type="hidden" name="project" value={view.project} />}
        {view.unfiled !== "" && <input type="hidden" name="unfiled" value={view.unfiled} />}
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
        <details open={hasFilters(view) || view.history !== ""}>
          <summary>Filters</summary>
          <Filters view={view} sources={sources} />
          <a href={viewPath({ project: view.project, unfiled: view.unfiled })}>Show all memories</a>
        </details>
      </form>
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
        />
        <Field label="Agent" {...entry("agent_id")} autocomplete="off" />
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
        <Field label="Saved from" type="date" {...entry("from")} />
        <Field label="Saved to" type="date" {...entry("to")} hint="Days in UTC" />
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
          Move or delete all memories that match these filters, on other pages too
        </Choice>
      )}
      <div class="pair">
        <Field label="Tag" name="tag" maxlength={64} autocomplete="off" />
        <Button name="action" value="tag">
          Add tag
        </Button>
        <Button name="action" value="untag">
          Remove tag
        </Button>
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
        <Button name="action" value="move">
          Move
        </Button>
        <Button name="action" value="delete" kind="danger">
          Delete
        </Button>
      </div>
    </fieldset>
  );
}
