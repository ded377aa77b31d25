import { AppError } from "../errors.ts";
import type { Reach } from "../keys/reach.ts";
import type { Filter } from "./filter.ts";
import type { MemoryRow } from "./rows.ts";

type HasProject = Pick<MemoryRow, "project">;

/** A filter that lets pass what may be read alone. */
export function readable({ bound }: Reach, filter: Filter): Filter {
  if (!bound) return filter;
  const reached = bound.only ? [bound.project] : [bound.project, null];
  return { ...withProjects(filter, reached), isBound: true };
}

/** A filter that lets pass what may be changed alone. */
export function writable({ bound }: Reach, filter: Filter): Filter {
  return bound ? withProjects(filter, [bound.project]) : filter;
}

function withProjects(filter: Filter, reached: readonly (string | null)[]): Filter {
  const { projects = reached } = filter;
  return { ...filter, projects: projects.filter((project) => reached.includes(project)) };
}

/** Whether a memory may be read. */
export function mayRead({ bound }: Reach, { project }: HasProject): boolean {
  return !bound || project === bound.project || (project === null && !bound.only);
}

/** Whether a memory may be changed. */
export function mayWrite({ bound }: Reach, { project }: HasProject): boolean {
  return !bound || project === bound.project;
}

/**
 * Refuses to change a memory that may be read alone.
 * @throws AppError `forbidden`
 */
export function checkMayWrite(reach: Reach, memory: HasProject): void {
  if (!mayWrite(reach, memory)) throw isBound();
}

/** Whether what is written may belong to a project; undefined where nothing was said. */
export function mayWriteTo({ bound }: Reach, wanted: string | null | undefined): boolean {
  return !bound || wanted === undefined || wanted === bound.project;
}

/**
 * The project that what is written belongs to: who is bound to one writes for it.
 * @param wanted undefined where nothing was said
 * @throws AppError `forbidden` for another one
 */
export function projectToWrite(reach: Reach, wanted: string | null | undefined): string | null {
  if (!mayWriteTo(reach, wanted)) throw isBound();
  return reach.bound?.project ?? wanted ?? null;
}

/** An idempotency key: those of who is bound are their own, or an answer would tell of another project. */
export function keyWithin({ bound }: Reach, key: string): string {
  return bound ? JSON.stringify([key, bound.project, bound.only]) : key;
}

function isBound() {
  return new AppError("forbidden", "This key is bound to a project, and changes nothing else.");
}
