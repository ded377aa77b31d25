/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Child } from "./jsx-runtime.ts";

interface FieldProps {
  label: string;
  name: string;
  value?: string | undefined;
  /** A short explanation, which screen readers read with the label. */
  hint?: Child;
  required?: boolean;
  autofocus?: boolean;
  maxlength?: number;
}

/** A control with its label above and its hint below. */
function Labelled({
  label,
  name,
  hint,
  children,
}: Pick<FieldProps, "label" | "name" | "hint"> & { children?: Child }) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {children}
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** The attribute of a control that names its hint. */
const describedBy = ({ name, hint }: Pick<FieldProps, "name" | "hint">) =>
  hint === undefined ? {} : { "aria-describedby": `${name}-hint` };

/** A single-line field with its label. */
export function Field({
  label,
  name,
  hint,
  type = "text",
  ...attributes
}: FieldProps & {
  type?: "text" | "email" | "password" | "search" | "number" | "date" | "datetime-local";
  minlength?: number;
  min?: string;
  max?: string;
  step?: string;
  autocomplete?: string;
  placeholder?: string;
  /** Id of a `datalist` with values to choose from. */
  list?: string;
}) {
  return (
    <Labelled label={label} name={name} hint={hint}>
      <input id={name} name={name} type={type} {...attributes} {...describedBy({ name, hint })} />
    </Labelled>
  );
}

/** A multi-line field with its label. */
export function TextArea({
  label,
  name,
  hint,
  value = "",
  rows = 6,
  ...attributes
}: FieldProps & { rows?: number }) {
  return (
    <Labelled label={label} name={name} hint={hint}>
      <textarea
        id={name}
        name={name}
        rows={`${rows}`}
        {...attributes}
        {...describedBy({ name, hint })}
      >
        {/* Browsers ignore the first line break. */ `\n${value}`}
      </textarea>
    </Labelled>
  );
}

/** A choice of one value, with its label. */
export function Select({
  label,
  name,
  value,
  hint,
  options,
}: Pick<FieldProps, "label" | "name" | "value" | "hint"> & {
  options: readonly (readonly [value: string, label: string])[];
}) {
  return (
    <Labelled label={label} name={name} hint={hint}>
      <select id={name} name={name} {...describedBy({ name, hint })}>
        {options.map(([each, text]) => (
          <option value={each} selected={each === value}>
            {text}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

/** A checkbox with its label. */
export function Choice({
  name,
  value,
  checked = false,
  children,
}: {
  name: string;
  value: string;
  checked?: boolean;
  children?: Child;
}) {
  return (
    <label class="choice">
      <input type="checkbox" name={name} value={value} checked={checked} />
      <span>{children}</span>
    </label>
  );
}
