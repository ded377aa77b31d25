/** @jsxRuntime automatic @jsxImportSource #pages */
import { revokeAccess } from "../../access/revoke-access.ts";
import { SIGN_IN_PATH } from "../../sign-in/paths.ts";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";

/** The page on which people revoke all access to their own account. */
const REVOKE_PATH = `${PATHS.account}/revoke`;

/** Revokes all access to the person's own account. */
export function addOwnAccessPage({ pages, record, ...stores }: Parts): void {
  pages.confirmed(
    REVOKE_PATH,
    "account",
    () => ({
      title: "Revoke all access to your account?",
      confirm: "Revoke everything",
      cancel: PATHS.account,
      text: (
        <>
          <RevokedList />
          <p>
            You are signed out in this browser too, and can sign in again. Your memories stay.
            Create new keys and connect apps again where you still need them.
          </p>
        </>
      ),
    }),
    async ({ account: { id }, request }) => {
      const { keys, apps, sessions } = await revokeAccess(id, stores);
      record(request, "access_revoked", { accountId: id, amount: keys + apps + sessions });
      return { to: SIGN_IN_PATH };
    },
  );
}

export function RevokedList() {
  return (
    <ul>
      <li>all API keys stop working</li>
      <li>all connected apps are disconnected</li>
      <li>all browsers are signed out</li>
    </ul>
  );
}
