import { AppError } from "../../errors.ts";
import type { Reach } from "../../keys/reach.ts";
import type { Filter } from "./filter.ts";
import type { MemoryRow } from "./rows.ts";

type HasProject = Pick<MemoryRow, "project">;

/** Limits a filter to memories that the caller may read. */
export function readable({ bound }: Reach, filter: Filter): Filter {
  if (!bound) return filter;
  const reached = bound.only ? [bound.project] : [bound.project, null];
  return { ...withProjects(filter, reached), isBound: true };
}

/** Limits a filter to memories that the caller may change. */
export function writable({ bound }: Reach, filter: Filter): Filter {
  return bound ? withProjects(filter, [bound.project]) : filter;
}

function withProjects(filter: Filter, reached: readonly (string | null)[]): Filter {
  const { projects = reached } = filter;
  return { ...filter, projects: projects.filter((project) => reached.includes(project)) };
}

/** Whether the caller may read a memory. */
export function mayRead({ bound }: Reach, { project }: HasProject): boolean {
  return !bound || project === bound.project || (project === null && !bound.only);
}

/** Whether the caller may change a memory. */
export function mayWrite({ bound }: Reach, { project }: HasProject): boolean {
  return !bound || project === bound.project;
}

/** @throws AppError `forbidden` if the caller may not change the memory */
export function checkMayWrite(reach: Reach, memory: HasProject): void {
  if (!mayWrite(reach, memory)) throw isBound();
}

/**
 * Whether the caller may write to a project.
 * @param wanted undefined if the request names none
 */
export function mayWriteTo({ bound }: Reach, wanted: string | null | undefined): boolean {
  return !bound || wanted === undefined || wanted === bound.project;
}

/**
 * The project of a new memory. A caller that is bound to a project writes to that one.
 * @param wanted undefined if the request names none
 * @throws AppError `forbidden` for another project
 */
export function projectToWrite(reach: Reach, wanted: string | null | undefined): string | null {
  if (!mayWriteTo(reach, wanted)) throw isBound();
  return reach.bound?.project ?? wanted ?? null;
}

/**
 * The idempotency key to record. Keys of bound callers are separate: otherwise an answer could reveal
 * memories of another project.
 */
export function scopedKey({ bound }: Reach, key: string): string {
  return bound ? JSON.stringify([key, bound.project, bound.only]) : key;
}

function isBound() {
  return new AppError("forbidden", "This key is bound to a project, and changes nothing else.");
}
