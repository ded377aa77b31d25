import { describe, expect, test } from "bun:test";
import { createIdentities } from "../../src/sign-in/providers/provider-sign-in.ts";
import { createFactors } from "../../src/sign-in/second-step/factors.ts";
import { readServerSecret } from "../../src/sign-in/sessions/devices.ts";
import { canSignIn, createRemoveSignInMethod } from "../../src/sign-in/sign-in-methods.ts";
import { DATABASES, storesOn } from "../support/databases.ts";
import { rejectionOf } from "../support/outcome.ts";
import { addAccount } from "../support/stores.ts";

const isDone = ({ status }: PromiseSettledResult<unknown>) => status === "fulfilled";

describe.each(DATABASES)("on %s,", (_, place) => {
  test("an identity belongs to one account", async () => {
    const { db, clock, accounts } = await storesOn(place);
    const identities = createIdentities({ db, clock });
    const [one, two] = [await addAccount(accounts), await addAccount(accounts, "b@example.com")];
    const identity = { issuer: "https://id.example.com", subject: "7" };
    const links = [one, two, one].map(({ id }) => identities.link(id, identity));
    expect((await Promise.allSettled(links)).filter(isDone).length).toBeGreaterThan(0);
    const owner = await identities.findAccount(identity);
    const [loser] = [one, two].filter(({ id }) => id !== owner);
    expect(await rejectionOf(identities.link(loser?.id ?? "", identity))).toMatchObject({
      code: "conflict",
    });
    expect(await identities.issuers(owner ?? "")).toEqual([identity.issuer]);
    await identities.unlink(owner ?? "", identity.issuer);
    expect(await identities.findAccount(identity)).toBeNull();
  });

  test("a recovery code is accepted once, even if several requests send it at the same time", async () => {
    const { db, beside, clock, accounts } = await storesOn(place);
    const { id } = await addAccount(accounts);
    const stores = [
      createFactors({ db, clock }),
      createFactors({ db: (await beside()).db, clock }),
    ];
    const [code = ""] = (await stores[0]?.recoveryCodes.replace(id)) ?? [];
    const used = await Promise.all(
      [...stores, ...stores].map(({ recoveryCodes }) => recoveryCodes.use(id, code)),
    );
    expect(used.filter(Boolean)).toHaveLength(1);
  });

  test("of two sign-in methods that are removed at the same time, one remains", async () => {
    const { db, beside, clock, accounts } = await storesOn(place);
    const { id } = await addAccount(accounts);
    const waysOn = (on: typeof db) => {
      const identities = createIdentities({ db: on, clock });
      const factors = createFactors({ db: on, clock });
      return {
        identities,
        take: createRemoveSignInMethod({ db: on, accounts, identities, factors }),
      };
    };
    const servers = [waysOn(db), waysOn((await beside()).db)] as const;
    const issuers = ["https://one.example.com", "https://two.example.com"] as const;
    for (let round = 0; round < 5; round++) {
      for (const issuer of issuers) await servers[0].identities.link(id, { issuer, subject: "7" });
      const taken = servers.map(({ identities, take }, n) =>
        take(
          id,
          (tx) => identities.unlink(id, issuers[n] ?? "", tx),
          (left) => left.issuers.length > 0,
          "this is your only way in",
        ),
      );
      expect((await Promise.allSettled(taken)).filter(isDone)).toHaveLength(1);
      expect(await servers[1].identities.issuers(id)).toHaveLength(1);
    }
  });

  test("a server secret is the same on all servers", async () => {
    const { db, beside } = await storesOn(place);
    const { db: other } = await beside();
    const read = await Promise.all([db, other, db].map((each) => readServerSecret(each, "etags")));
    expect(new Set(read).size).toBe(1);
    expect(await readServerSecret(other, "another")).not.toBe(read[0] ?? "");
  });
});

test("a password that is switched off and a provider that is gone are no ways to sign in", () => {
  const providers = [{ issuer: "https://here.example.com" }];
  const nothing = { hasPassword: false, issuers: ["https://gone.example.com"], passkeys: 0 };
  expect(canSignIn(nothing, { passwords: true, providers })).toBe(false);
  expect(canSignIn({ ...nothing, passkeys: 1 }, { passwords: false, providers })).toBe(true);
  const linked = { ...nothing, issuers: ["https://here.example.com"] };
  expect(canSignIn(linked, { passwords: false, providers })).toBe(true);
  const withPassword = { ...nothing, hasPassword: true };
  expect(canSignIn(withPassword, { passwords: true, providers })).toBe(true);
  expect(canSignIn(withPassword, { passwords: false, providers })).toBe(false);
});
