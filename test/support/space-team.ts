import type { Role, Space } from "../../src/accounts/space.ts";
import type { Client } from "./client.ts";
import type { TestServer } from "./server.ts";

/** A person of a server, with a key of all rights. */
export type Person = Client & { accountId: string; email: string };

/** Adds a person. */
export async function addPerson(server: TestServer, name: string): Promise<Person> {
  const email = `${name}-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const { id: accountId } = await server.accounts.add({ email, password: null });
  return { accountId, email, ...(await server.client(accountId)) };
}

/** Lets a person join a space as the invitation of one of its admins says. */
export async function join(
  server: TestServer,
  space: Pick<Space, "id">,
  { accountId }: { accountId: string },
  role: Role,
): Promise<void> {
  const [admin] = (await server.spaces.members(space.id)).filter((each) => each.role === "admin");
  if (!admin) throw new Error("the space has no admin");
  const wanted = { email: null, role };
  const { secret } = await server.spaceInvitations.create(admin.accountId, space.id, wanted);
  const account = await server.accounts.find(accountId);
  if (!account) throw new Error("there is no such account");
  await server.spaceInvitations.acceptLink(account, secret);
}

/** Returns a function that sends requests as a person's browser, by a session. */
export async function atDashboard(server: TestServer, { accountId }: { accountId: string }) {
  const session = await server.sessions.begin(accountId, "browser");
  return async (method: string, path: string, json?: unknown) => {
    const response = await fetch(`${server.origin}/api${path}`, {
      method,
      headers: {
        cookie: `ctxd-session=${session}`,
        "sec-fetch-site": "same-origin",
        ...(json !== undefined && { "content-type": "application/json" }),
      },
      body: json === undefined ? null : JSON.stringify(json),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests compare it as it is
    const body: any = await response.json();
    return { status: response.status, body };
  };
}
