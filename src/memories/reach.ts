import { AppError } from "../errors.ts";
import type { Reach } from "../keys/reach.ts";
import type { Filter } from "./filter.ts";
import type { MemoryRow } from "./rows.ts";

type HasProject = Pick<MemoryRow, "project">;

/** A filter that lets pass what may be read alone. */
export function readable({ bound }: Reach, filter: Filter): Filter {
  if (!bound) return filter;
  return withProjects(filter, bound.only ? [bound.project] : [bound.project, null]);
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

/**
 * Refuses to change a memory that may be read alone.
 * @throws AppError `forbidden`
 */
export function checkMayWrite({ bound }: Reach, { project }: HasProject): void {
  if (bound && project !== bound.project) throw isBound();
}

/**
 * The project that what is written belongs to: who is bound to one writes for it.
 * @param wanted undefined where nothing was said
 * @throws AppError `forbidden` for another one
 */
export function projectToWrite({ bound }: Reach, wanted: string | null | undefined): string | null {
  if (!bound) return wanted ?? null;
  if (wanted !== undefined && wanted !== bound.project) throw isBound();
  return bound.project;
}

function isBound() {
  return new AppError("forbidden", "This key is bound to a project, and changes nothing else.");
}
