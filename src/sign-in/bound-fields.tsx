/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../errors.ts";
import { describeBound } from "../keys/project-bound.ts";
import type { Bound } from "../keys/reach.ts";
import { describeScopes, type Scope } from "../keys/scopes.ts";
import { Choice, Field } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";

const PROJECT = "bound_project";
const ONLY = "bound_only";

/** The rights of a key or an app, and its project. */
export function Allowed({
  scopes,
  bound,
}: {
  scopes: readonly Scope[];
  bound: Bound | null;
}): Markup {
  return (
    <span>
      {describeScopes(scopes)}
      {bound && (
        <>
          {" in "}
          <bdi>{describeBound(bound)}</bdi>
        </>
      )}
    </span>
  );
}

/** The part of a form that binds a key or an app to a project. */
export function BoundFields({
  whose,
  entered,
}: {
  /** The bound thing, such as `the key`. */
  whose: string;
  /** The submitted fields. */
  entered?: URLSearchParams | undefined;
}): Markup {
  return (
    <details open={Boolean(entered?.get(PROJECT) || entered?.get(ONLY))}>
      <summary>Bind it to a project</summary>
      <Field
        label="Project"
        name={PROJECT}
        value={entered?.get(PROJECT) ?? ""}
        hint={`The memories that ${whose} saves belong to this project. It sees the memories of this project and those without a project. If you leave this empty, it sees all your memories.`}
        maxlength={128}
        autocomplete="off"
      />
      <Choice name={ONLY} value="true" checked={entered?.get(ONLY) === "true"}>
        This project alone: not even memories of none
      </Choice>
    </details>
  );
}

/**
 * The bound of the submitted fields; null without one.
 * @throws AppError `validation_failed` if the fields exclude other memories but name no project
 */
export function boundOf(form: URLSearchParams): Bound | null {
  const project = form.get(PROJECT)?.trim();
  const only = form.get(ONLY) === "true";
  if (project) return { project, only };
  if (only) throw new AppError("validation_failed", "Enter the name of the project.");
  return null;
}
