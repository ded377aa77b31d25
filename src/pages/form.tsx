/** @jsxRuntime automatic @jsxImportSource #pages */
import { type Space, unknownSpace } from "../accounts/space.ts";
import { AppError } from "../errors.ts";
import type { KeyRecord } from "../keys/keys.ts";
import { type Bound, describeBound } from "../keys/reach.ts";
import { describeScopes } from "../keys/scopes.ts";
import { FORM_SPACE, FORM_TOKEN } from "./cookies.ts";
import { Choice, Field, Select } from "./field.tsx";
import type { Child } from "./jsx-runtime.ts";

/** A form that changes something, with its token. */
export function PostForm({
  action,
  token,
  children,
  ...attributes
}: {
  action: string;
  /** See `formToken` and `tokenIn`. */
  token: string;
  class?: string;
  id?: string;
  /** For a form with files. */
  enctype?: "multipart/form-data";
  children?: Child;
}) {
  const [proof, space] = token.split(" ");
  return (
    <form method="post" action={action} {...attributes}>
      <input type="hidden" name={FORM_TOKEN} value={proof} />
      {space !== undefined && <input type="hidden" name={FORM_SPACE} value={space} />}
      {children}
    </form>
  );
}

const PROJECT = "bound_project";
const ONLY = "bound_only";
const SPACE = "bound_space";

/** The rights of a key or an app, its project, and the space that is all it reaches. */
export function Allowed({
  scopes,
  bound,
  spaceId,
  spaces,
}: Pick<KeyRecord, "scopes" | "bound" | "spaceId"> & { spaces: readonly Space[] }) {
  const space = spaces.find(({ id }) => id === spaceId);
  return (
    <span>
      {describeScopes(scopes)}
      {bound && (
        <>
          {" in "}
          <bdi>{describeBound(bound)}</bdi>
        </>
      )}
      {spaceId !== null && (
        <>
          {" in the space "}
          <bdi>{space?.name ?? spaceId}</bdi>
        </>
      )}
    </span>
  );
}

/** The part of a form that binds a key or an app to a project, or to a space of a person who is in one. */
export function BoundFields({
  whose,
  entered,
  spaces,
}: {
  /** The person's. */
  spaces: readonly Space[];
  /** The bound thing, such as `the key`. */
  whose: string;
  /** The submitted fields. */
  entered?: URLSearchParams | undefined;
}) {
  return (
    <details open={[PROJECT, ONLY, SPACE].some((name) => entered?.get(name))}>
      <summary>
        {spaces.length > 0 ? "Bind it to a project or a space" : "Bind it to a project"}
      </summary>
      {spaces.length > 0 && (
        <Select
          label="Space"
          name={SPACE}
          value={entered?.get(SPACE) ?? ""}
          options={[
            ["", "None: your own memories"],
            ...spaces.map(({ id, name }) => [id, name] as const),
          ]}
          hint={`With a space, ${whose} reaches its memories and none of your own. Without one, it saves with you and also searches your spaces.`}
        />
      )}
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

/**
 * The id of the space that the submitted fields choose; null without one.
 * @param spaces the person's
 * @throws AppError `not_found` for another space, `validation_failed` if the project of `boundOf` does not live in it
 */
export function boundSpaceOf(form: URLSearchParams, spaces: readonly Space[]): string | null {
  const wanted = form.get(SPACE);
  if (!wanted) return null;
  const space = spaces.find(({ id }) => id === wanted);
  if (!space) throw unknownSpace();
  const bound = boundOf(form);
  if (bound === null || space.projects.includes(bound.project)) return space.id;
  const message = `The project “${bound.project}” does not live in the space “${space.name}”.`;
  throw new AppError("validation_failed", message);
}

/** The field for the e-mail address of an account. */
export function EmailField({
  email,
  hint,
  autofocus = false,
}: {
  /** The address that was typed before. */
  email: string;
  hint?: Child;
  autofocus?: boolean;
}) {
  return (
    <Field
      label="E-mail address"
      type="email"
      name="email"
      value={email}
      hint={hint}
      autocomplete="username"
      required={true}
      maxlength={254}
      autofocus={autofocus}
    />
  );
}
