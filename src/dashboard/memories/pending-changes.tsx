/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../../memories/model/memory.ts";
import { Button } from "../../pages/button.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Fragment } from "../../pages/jsx-runtime.ts";
import { dayText } from "../../pages/moment.tsx";
import { memoryCount } from "../../text/number-text.ts";
import { type Change, retagged } from "../../undo/change.ts";
import type { PendingChange } from "../../undo/undoable.ts";
import { MEMORY_PATHS } from "../navigation.tsx";
import type { View } from "./memories-view.ts";

type ChangeKind = Change extends infer Each
  ? Each extends unknown
    ? Omit<Each, "ids">
    : never
  : never;

type Fields = (Change & { kind: "set" })["fields"];

/** The end of a sentence that says what a change does to `count` memories. */
export function describeChange(change: ChangeKind, count: number): string {
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
    case "set":
      return describeFields(change.fields, count === 1);
    case "supersede":
      return count === 1 ? "is history now" : "are history now";
    case "tidy": {
      const [said, ...others] = new Set(change.parts.map((part) => describeChange(part, count)));
      if (said !== undefined && others.length === 0) return said;
      return count === 1 ? "is tidied" : "are tidied";
    }
  }
}

function describeFields({ pinned, importance, expires_at }: Fields, isOne: boolean): string {
  const [is, has, expires] = isOne ? ["is", "has", "expires"] : ["are", "have", "expire"];
  if (pinned !== undefined) return pinned ? `${is} pinned now` : `${is} no longer pinned`;
  if (importance !== undefined) return `now ${has} the importance ${importance}`;
  return expires_at
    ? `now ${expires} on ${dayText(expires_at, { withYear: true })}`
    : `now ${has} no day of expiry`;
}

/** Ids of the memories that a view no longer shows once the pending changes are applied. */
export function leavingView(pending: readonly PendingChange[], view: View): string[] {
  const changes = pending.flatMap(({ change }) => partsOf(change));
  return changes.flatMap((change) => (leavesView(change, view) ? change.ids : []));
}

const partsOf = (change: Change): readonly Change[] =>
  change.kind === "tidy" ? change.parts : [change];

function leavesView(change: Change, { project, unfiled, tags }: View): boolean {
  if (change.kind === "delete" || change.kind === "supersede") return true;
  if (change.kind === "move") {
    if (unfiled !== "") return change.project !== null;
    return project !== "" && change.project !== project;
  }
  return change.kind === "untag" && tags === change.tag;
}

/** The memory as it will be once the pending changes are applied. */
export function afterChanges<Shown extends Memory>(
  memory: Shown,
  pending: readonly PendingChange[],
): Shown {
  let after = memory;
  // The list has the newest change first; it is applied last.
  for (const change of pending.toReversed().flatMap(({ change }) => partsOf(change))) {
    if (!change.ids.includes(memory.id)) continue;
    if (change.kind === "move") after = { ...after, project: change.project };
    else if (change.kind === "set") after = { ...after, ...change.fields };
    else if (change.kind === "tag" || change.kind === "untag") {
      after = { ...after, tags: retagged(change)(after.tags) };
    }
  }
  return after;
}

/** The pending changes, each with a button that undoes it. */
export function PendingChanges({
  pending,
  back,
  token,
}: {
  pending: readonly PendingChange[];
  /** The address of the page. */
  back: string;
  token: string;
}) {
  if (pending.length === 0) return Fragment({});
  return (
    <div class="undo">
      {pending.map(({ id, change, remainingMs }) => (
        <PostForm action={MEMORY_PATHS.undo} token={token}>
          <input type="hidden" name="change" value={id} />
          <input type="hidden" name="view" value={back} />
          <p data-left={`${remainingMs}`}>
            {`${memoryCount(change.ids.length)} ${describeChange(change, change.ids.length)}.`}
          </p>
          <Button>Undo</Button>
        </PostForm>
      ))}
    </div>
  );
}
