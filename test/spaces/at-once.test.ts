import { describe, expect, test } from "bun:test";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { createSpaceInvitations } from "../../src/accounts/space-invitations.ts";
import { createSpaces } from "../../src/accounts/spaces.ts";
import { testClock } from "../support/database.ts";
import { DATABASES, type Place } from "../support/databases.ts";
import { addAccount } from "../support/stores.ts";

const TIMES = 50;
const AT_ONCE = 5;

/** The stores of two servers on one database, and three people. */
async function serversAt(place: Place) {
  const [{ open, openBeside }, clock] = [await place(), testClock()];
  const first = await open();
  const dbs = [first, await openBeside(first)] as const;
  const accounts = createAccounts({ db: first, clock });
  const people = [
    await addAccount(accounts, "ann@example.com"),
    await addAccount(accounts, "bob@example.com"),
    await addAccount(accounts, "eve@example.com"),
  ] as const;
  const [one, other] = dbs.map((db) => ({
    spaces: createSpaces({ db, clock }),
    invitations: createSpaceInvitations({ db, clock }),
  }));
  if (!one || !other) throw new Error("there are no servers");
  return { one, other, people, accounts };
}
type Servers = Awaited<ReturnType<typeof serversAt>>;

/** Does something often, several times at once, each time in a space of its own with two admins. */
async function often(
  { one, people: [ann, bob] }: Servers,
  work: (spaceId: string) => Promise<void>,
) {
  for (let done = 0; done < TIMES; done += AT_ONCE) {
    const spaces = [];
    for (let made = 0; made < AT_ONCE; made++) {
      const { id } = await one.spaces.create(ann.id, "acme");
      const wanted = { email: null, role: "admin" } as const;
      const { secret } = await one.invitations.create(ann.id, id, wanted);
      await one.invitations.acceptLink(bob, secret);
      spaces.push(id);
    }
    await Promise.all(spaces.map(work));
    for (const id of spaces) await one.spaces.remove(null, id);
  }
}

describe.each(DATABASES)("at once, by two servers on %s", (_, place) => {
  const adminsOf = async ({ one }: Servers, id: string) =>
    (await one.spaces.members(id)).filter(({ role }) => role === "admin");

  test.each(["demote", "remove"] as const)(
    "when two admins %s each other, one stays",
    async (how) => {
      const servers = await serversAt(place);
      const { one, other, people } = servers;
      const [ann, bob] = people;
      await often(servers, async (id) => {
        const outcomes = await Promise.allSettled(
          how === "demote"
            ? [
                one.spaces.setRole(ann.id, id, bob.id, "read"),
                other.spaces.setRole(bob.id, id, ann.id, "read"),
              ]
            : [
                one.spaces.removeMember(ann.id, id, bob.id),
                other.spaces.removeMember(bob.id, id, ann.id),
              ],
        );
        expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        expect(await adminsOf(servers, id)).toHaveLength(1);
      });
    },
  );

  test("when all admins leave, one stays", async () => {
    const servers = await serversAt(place);
    const { one, other, people } = servers;
    const [ann, bob] = people;
    await often(servers, async (id) => {
      await Promise.allSettled([
        one.spaces.removeMember(ann.id, id, ann.id),
        other.spaces.removeMember(bob.id, id, bob.id),
      ]);
      expect(await adminsOf(servers, id)).toHaveLength(1);
    });
  });

  test("an invitation that two people accept lets one in", async () => {
    const servers = await serversAt(place);
    const { one, other, accounts, people } = servers;
    const [ann, , eve] = people;
    const zoe = await addAccount(accounts, "zoe@example.com");
    await often(servers, async (id) => {
      const wanted = { email: null, role: "write" } as const;
      const { secret } = await one.invitations.create(ann.id, id, wanted);
      const outcomes = await Promise.allSettled([
        one.invitations.acceptLink(eve, secret),
        other.invitations.acceptLink(zoe, secret),
      ]);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await one.spaces.members(id)).toHaveLength(3);
      expect(await one.invitations.list(id)).toEqual([]);
    });
  });
});
