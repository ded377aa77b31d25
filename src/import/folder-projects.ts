/** The project of a folder of this machine; null if it has none. */
export type ProjectOf = (folder: string) => Promise<string | null>;

/** Asks once for each folder, because a transcript names the same one in each turn. */
export function rememberProjects(projectOf: ProjectOf): ProjectOf {
  const known = new Map<string, string | null>();
  return async (folder) => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const project = await projectOf(folder);
    known.set(folder, project);
    return project;
  };
}
