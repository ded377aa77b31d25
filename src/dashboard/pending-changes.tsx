/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../memories/memory.ts";
import { Button } from "../pages/button.tsx";
import { Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { PostForm } from "../sign-in/form.tsx";
import type { Change } from "../undo/change.ts";
import type { PendingChange } from "../undo/pending-changes.ts";
import { retagged } from "../undo/selected-memories.ts";
import { type View, viewPath } from "./memories-view.ts";
import { MEMORY_PATHS } from "./navigation.tsx";
import { memoryCount } from "./number-text.ts";

type Kind = Change extends infer Each ? (Each extends unknown ? Omit<Each, "ids"> : never) : never;

/** What memories are after a change, as the end of a sentence about so many. */
export function done(change: Kind, count: number): string {
  switch (change.kind) {
    case "delete":
      return count === 1 ? "is deleted" : "are deleted";
    case "tag":
      return `now ${count === 1 ? "has" : "have"} the tag “${change.tag}”`;
    case "untag":
      return `no longer ${count === 1 ? "has" : "have"} the tag “${change.tag}”`;
    case "move": {
      const to = change.project === null ? "no project" : `the project “${change.project}”`;
      return `now ${count === 1 ? "belongs" : "belong"} to ${to}`;
    }
  }
}

/** Ids of memories that a view shows as long as what waits is not carried out. */
export function leavingBy(waiting: readonly PendingChange[], view: View): string[] {
  return waiting.flatMap(({ change }) => (isLeft(change, view) ? change.ids : []));
}

function isLeft(change: Change, { project, unfiled, tags }: View): boolean {
  if (change.kind === "delete") return true;
  if (change.kind === "move") {
    if (unfiled !== "") return change.project !== null;
    return project !== "" && change.project !== project;
  }
  return change.kind === "untag" && tags === change.tag;
}

/** A memory as it is when all that waits is carried out. */
export function afterAll<Shown extends Memory>(
  memory: Shown,
  waiting: readonly PendingChange[],
): Shown {
  let after = memory;
  // The newest is the first, and the last to be carried out.
  for (const { change } of waiting.toReversed()) {
    if (!change.ids.includes(memory.id) || change.kind === "delete") continue;
    after =
      change.kind === "move"
        ? { ...after, project: change.project }
        : { ...after, tags: retagged(change)(after.tags) };
  }
  return after;
}

/** What is done in some seconds, with the way to have it not done. */
export function PendingChanges({
  waiting,
  view,
  token,
}: {
  waiting: readonly PendingChange[];
  view: View;
  token: string;
}): Markup {
  if (waiting.length === 0) return Fragment({});
  return (
    <div class="undo">
      {waiting.map(({ id, change, left }) => (
        <PostForm action={MEMORY_PATHS.undo} token={token}>
          <input type="hidden" name="change" value={id} />
          <input type="hidden" name="view" value={viewPath(view)} />
          <p data-left={`${left}`}>
            {`${memoryCount(change.ids.length)} ${done(change, change.ids.length)}.`}
          </p>
          <Button>Undo</Button>
        </PostForm>
      ))}
    </div>
  );
}
