import type { ErrorDetail } from "../errors.ts";
import { problemOf, text } from "../text/input-kinds.ts";
import type { Bound } from "./reach.ts";

/** The columns for the project that a key or a grant is bound to. */
export interface BoundColumns {
  readonly project: string | null;
  readonly projectOnly: boolean;
}

export function toBound({ project, projectOnly }: BoundColumns): Bound | null {
  return project === null ? null : { project, only: projectOnly };
}

export function toBoundColumns(bound: Bound | null): BoundColumns {
  return { project: bound?.project ?? null, projectOnly: bound?.only ?? false };
}

const NAME = text({ minLength: 1, maxLength: 128 }, { visible: true });

/** The problem with the project of a new key or grant; null without one. */
export function boundProblem(bound: Bound | null): ErrorDetail | null {
  if (bound === null) return null;
  const path = "/project";
  const problem = problemOf(NAME, bound.project);
  return problem === null ? null : { path, message: `A project's name ${problem}.` };
}

/** Describes a bound to people: `atlas`, `atlas only`. */
export function describeBound(bound: Bound | null): string {
  if (bound === null) return "-";
  return bound.only ? `${bound.project} only` : bound.project;
}

/**
 * The stored form of a value that decides about access, for what is bound to a project. A server of an
 * earlier version may use the same database. It does not know about projects, and does not find this form.
 */
export function inBoundForm(value: string): string {
  return `project ${value}`;
}

/** Whether a grant's stored resource is this one, with or without a project. */
export function matchesResource(stored: string, resource: string): boolean {
  return stored === resource || stored === inBoundForm(resource);
}
