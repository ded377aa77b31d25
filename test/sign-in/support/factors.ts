import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { toBase32 } from "../../../src/sign-in/second-step/one-time-codes.ts";
import type { OAuthServer } from "../../oauth/support/oauth-server.ts";
import { createPerson, type Page, type Person } from "../../oauth/support/person.ts";
import { createCodeApp } from "../../support/code-app.ts";
import { createSoftPasskey, type Telling } from "../../support/soft-passkey.ts";

export const PASSWORD = "correct horse battery";
const STEP = 30_000;

const Options = Type.Object({
  challenge: Type.String(),
  allowCredentials: Type.Optional(Type.Array(Type.Object({ id: Type.String() }))),
});

/** The parts of a server that these functions use. */
type Server = Pick<OAuthServer, "origin" | "accounts" | "factors" | "clock" | "sessions">;

/** An account with a password. */
export async function addPerson(server: Server, email = "you@example.com") {
  const { id } = await server.accounts.add({ email, password: PASSWORD });
  return { id, email };
}

/** Gives an account an app for codes, and recovery codes. */
export async function addApp(server: Server, accountId: string) {
  const { oneTimeCodes } = server.factors;
  await oneTimeCodes.begin(accountId);
  const secret = toBase32((await oneTimeCodes.findUnconfirmed(accountId)) ?? new Uint8Array());
  const app = createCodeApp(secret, server.clock);
  if (!(await oneTimeCodes.confirm(accountId, app.code()))) throw new Error("not confirmed");
  // The first code is used up.
  server.clock.advance(2 * STEP);
  return { app, codes: (await server.factors.recoveryCodes.issueFirst(accountId)) ?? [] };
}

/** Requests the options of a passkey, as the page's script does. */
export async function askOptions(
  { origin }: Pick<Server, "origin">,
  person: Person,
  page: Page,
  path: string,
): Promise<{ status: number; challenge: string; allowed: string[] | null }> {
  const fields = page.forms[0]?.fields ?? [];
  const token = fields.find(([name]) => name === "form_token")?.[1] ?? "";
  const response = await fetch(origin + path, {
    method: "POST",
    body: new URLSearchParams({ form_token: token }),
    headers: {
      origin,
      "sec-fetch-site": "same-origin",
      cookie: [...person.jar].map(([name, value]) => `${name}=${value}`).join("; "),
    },
  });
  if (!response.ok) return { status: response.status, challenge: "", allowed: null };
  const { challenge, allowCredentials = null } = Value.Parse(Options, await response.json());
  const allowed = allowCredentials?.map(({ id }) => id) ?? null;
  return { status: response.status, challenge, allowed };
}

/** Gives an account a passkey, by the pages of a person who is signed in. */
export async function addPasskey(
  server: Server,
  accountId: string,
  telling: Partial<Telling> = {},
) {
  const person = createPerson(server.origin);
  person.jar.set("ctxd-session", await server.sessions.begin(accountId));
  const page = formWith(await person.visit("/account/passkeys/new"), "credential");
  const options = await askOptions(server, person, page, "/account/passkeys/options");
  const passkey = createSoftPasskey();
  const credential = passkey.create(options, { origin: server.origin, ...telling });
  const added = await person.submit(page, { credential, name: "a passkey" });
  return { passkey, person, page: added };
}

/** The page, with the form that has this field moved to the front. */
export function formWith(page: Page, field: string): Page {
  const forms = page.forms.filter(({ fields }) => fields.some(([name]) => name === field));
  if (forms.length === 0) throw new Error(`no form with ${field} on this page: ${page.text}`);
  return { ...page, forms };
}

/** Submits the password form. */
export async function enterPassword(
  server: Pick<Server, "origin">,
  { email = "you@example.com", password = PASSWORD, next = null as string | null } = {},
) {
  const person = createPerson(server.origin);
  const query = next === null ? "" : `?${new URLSearchParams({ next })}`;
  const form = await person.visit(`/sign-in${query}`);
  const page = await person.submit(form, { email, password });
  return { person, page };
}

/** Whether a browser can use the dashboard. */
export async function isSignedIn(person: Person): Promise<boolean> {
  return (await person.visit("/keys")).text.includes("Sign out");
}
