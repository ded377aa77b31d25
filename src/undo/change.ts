/** A change of several memories at once. */
export type Change = { ids: readonly string[] } & (
  | { kind: "delete" }
  | { kind: "tag" | "untag"; tag: string }
  | { kind: "move"; project: string | null }
);
