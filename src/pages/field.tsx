/** @jsxRuntime automatic @jsxImportSource #pages */
import { type Child, Fragment } from "./jsx-runtime.ts";

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
  const hintId = `${name}-hint`;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        type={type}
        {...attributes}
        {...(hint !== undefined && { "aria-describedby": hintId })}
      />
      <Hint id={hintId}>{hint}</Hint>
    </div>
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
  const hintId = `${name}-hint`;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <textarea
        id={name}
        name={name}
        rows={`${rows}`}
        {...attributes}
        {...(hint !== undefined && { "aria-describedby": hintId })}
      >
        {/* Browsers ignore the first line break. */ `\n${value}`}
      </textarea>
      <Hint id={hintId}>{hint}</Hint>
    </div>
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
  const hintId = `${name}-hint`;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name} {...(hint !== undefined && { "aria-describedby": hintId })}>
        {options.map(([each, text]) => (
          <option value={each} selected={each === value}>
            {text}
          </option>
        ))}
      </select>
      <Hint id={hintId}>{hint}</Hint>
    </div>
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

function Hint({ id, children }: { id: string; children?: Child }) {
  if (children === undefined) return Fragment({});
  return (
    <p class="hint" id={id}>
      {children}
    </p>
  );
}
