import { expect, test } from "bun:test";
import { createGroups } from "../../../src/memories/indexes/groups.ts";

test("a group has what was added to it and not removed, the last first", () => {
  const groups = createGroups();
  for (const member of [0, 1, 2, 3, 4]) groups.add(member % 2, member);
  expect([[...groups.members(0)], [...groups.members(1)]]).toEqual([
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
  const all = [0, 1, 9, 5, -1].map((group) => [...groups.members(group)]);
  expect(all).toEqual([[1, 0], [3], [4], [], []]);
});
