import { expect, test } from "bun:test";
import { createGroups } from "../../../src/memories/indexes/slots.ts";

function membersOf(groups: ReturnType<typeof createGroups>, group: number): number[] {
  const members: number[] = [];
  for (let one = groups.first(group); one >= 0; one = groups.after(one)) members.push(one);
  return members;
}

test("a group has what was added to it and not removed, the last first", () => {
  const groups = createGroups();
  for (const member of [0, 1, 2, 3, 4]) groups.add(member % 2, member);
  expect([membersOf(groups, 0), membersOf(groups, 1)]).toEqual([
    [4, 2, 0],
    [3, 1],
  ]);
  for (const [group, member] of [
    [0, 2],
    [0, 4],
    [1, 1],
  ] as const)
    groups.remove(group, member);
  groups.add(9, 4);
  groups.add(0, 1);
  const all = [0, 1, 9, 5, -1].map((group) => membersOf(groups, group));
  expect(all).toEqual([[1, 0], [3], [4], [], []]);
});
