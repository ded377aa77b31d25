/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../errors.ts";
import { describeBound } from "../keys/project-bound.ts";
import type { Bound } from "../keys/reach.ts";
import { describeScopes, type Scope } from "../keys/scopes.ts";
import { Choice, Field } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";

const PROJECT = "bound_project";
const ONLY = "bound_only";

/** What a key or an app may do, and in which project. */
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
  /** What is bound, such as `the key`. */
  whose: string;
  /** What the form was sent with. */
  entered?: URLSearchParams | undefined;
}): Markup {
  return (
    <details open={Boolean(entered?.get(PROJECT) || entered?.get(ONLY))}>
      <summary>Bind it to a project</summary>
      <Field
        label="Project"
        name={PROJECT}
        value={entered?.get(PROJECT) ?? ""}
        hint={`What ${whose} saves belongs to it, and it sees the memories of this project and those of none. Left empty, it sees all your memories.`}
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
 * What those fields bind to; null for nothing.
 * @throws AppError `validation_failed` where no project is named that alone is to be seen
 */
export function boundOf(form: URLSearchParams): Bound | null {
  const project = form.get(PROJECT)?.trim();
  const only = form.get(ONLY) === "true";
  if (project) return { project, only };
  if (only) throw new AppError("validation_failed", "Name the project that it is bound to.");
  return null;
}
