/** Example command lines for the end of a command's help. */
export function examples(...lines: readonly string[]): string {
  const heading = lines.length === 1 ? "Example" : "Examples";
  return `\n${heading}:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** How commands that read or save memories choose the project, for the end of their help. */
export const PROJECT_NOTE = `In a folder of a git repository the project is the same as for ctxd mcp: owner/repo of the
remote origin, or else the name of the repository's folder. Elsewhere there is none.`;
