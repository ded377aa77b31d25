import { createIdFrom } from "../../db/id.ts";
import type { Reach } from "../../keys/reach.ts";
import type { MemoryRow } from "../model/rows.ts";

/** The fields of an imported line that name memories. */
interface Linked {
  id: string;
  supersedes: string | null;
  supersededBy: string | null;
}

/**
 * Replaces ids in the lines of a caller that is bound to a project. An id that no memory of the project has
 * becomes a new id that follows from it and the project. So a line can neither change a memory of another
 * project nor reveal that it exists.
 * @param find memories by their ids
 */
export async function withProjectIds<Line extends Linked>(
  { bound }: Reach,
  lines: readonly Line[],
  find: (ids: readonly string[]) => Promise<MemoryRow[]>,
): Promise<readonly Line[]> {
  if (!bound) return lines;
  const named = lines.flatMap(({ id, supersedes, supersededBy }) => [id, supersedes, supersededBy]);
  const rows = await find([...new Set(named.filter((id) => id !== null))]);
  const own = new Set(rows.filter(({ project }) => project === bound.project).map(({ id }) => id));
  const ownId = (id: string) =>
    own.has(id) ? id : createIdFrom("mem", JSON.stringify([id, bound.project]));
  const ownLink = (id: string | null) => id && ownId(id);
  return lines.map((line) => ({
    ...line,
    id: ownId(line.id),
    supersedes: ownLink(line.supersedes),
    supersededBy: ownLink(line.supersededBy),
  }));
}
