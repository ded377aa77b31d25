/** What is done with some memories at once. */
export type Change = { ids: readonly string[] } & (
  | { kind: "delete" }
  | { kind: "tag" | "untag"; tag: string }
  | { kind: "move"; project: string | null }
);
