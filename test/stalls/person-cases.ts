import { type Access, rowId } from "./access-rows.ts";
import { type Case, reads, sends } from "./case.ts";
import { upload } from "./memory-cases.ts";

/** The requests of an owner whose server and account have as many rows as `addAccess` writes. */
export function personCases(owner: Access): Case[] {
  return [...pages(owner), ...changes(owner)];
}

const [KEY, GRANT, SESSION] = [`key_${rowId(1)}`, `grant_${rowId(1)}`, rowId(1)];
const [MEMBER, INVITATION] = [`acc_${rowId(1)}`, `inv_${rowId(1)}`];

function pages(owner: Access): Case[] {
  const same = [
    ...["/account", "/account/revoke", "/account/security", "/account/security/download"],
    ...["/admin", "/admin/backups", "/admin/health", "/admin/security"],
    ...["/admin/security/download", "/agents", "/connect", "/keys"],
  ];
  return [
    ...same.flatMap((path) => reads(owner, path)),
    ...reads(owner, "/api/metrics"),
    ...reads(owner, "/activity", "/activity", "/activity?days=365"),
    ...reads(owner, "/activity/queries/stop"),
    ...reads(owner, "/activity/uses/stop"),
    ...reads(owner, "/admin/accounts/:id", `/admin/accounts/${MEMBER}`),
    ...reads(owner, "/admin/accounts/:id/disable", `/admin/accounts/${MEMBER}/disable`),
    ...reads(owner, "/admin/accounts/:id/remove", `/admin/accounts/${MEMBER}/remove`),
    ...reads(owner, "/admin/accounts/:id/revoke", `/admin/accounts/${MEMBER}/revoke`),
    ...reads(owner, "/agents/:id/revoke", `/agents/${GRANT}/revoke`),
    ...reads(owner, "/agents/:id/pause", `/agents/${GRANT}/pause`),
    ...reads(owner, "/apps"),
    ...reads(owner, "/keys/:id/regenerate", `/keys/${KEY}/regenerate`),
    ...reads(owner, "/keys/:id/revoke", `/keys/${KEY}/revoke`),
    ...reads(owner, "/agents/:id/written", `/agents/${KEY}/written?agent=codex`),
  ];
}

function changes(owner: Access): Case[] {
  const act = (route: string, id: string, form = {}) =>
    sends(owner, route, form, route.replace(":id", id));
  return [
    upload(owner, "The lazy dog sleeps.", 100_000),
    sends(owner, "/connect", { to: "claude-code" }),
    sends(owner, "/keys", { name: "another", scope: "read" }),
    act("/agents/:id/pause", KEY),
    act("/agents/:id/resume", KEY),
    act("/keys/:id/regenerate", KEY),
    act("/keys/:id/revoke", KEY),
    act("/agents/:id/written", GRANT),
    act("/agents/:id/revoke", GRANT),
    sends(owner, "/admin/invitations", { email: "" }),
    act("/admin/invitations/:id/revoke", INVITATION),
    act("/admin/accounts/:id/quota", MEMBER, { memories: "10", bytes: "" }),
    act("/admin/accounts/:id/quota/clear", MEMBER),
    act("/admin/accounts/:id/revoke", MEMBER),
    act("/admin/accounts/:id/disable", MEMBER),
    act("/admin/accounts/:id/enable", MEMBER),
    act("/admin/accounts/:id/remove", MEMBER),
    act("/account/sessions/:id/revoke", SESSION),
    sends(owner, "/account/sessions/revoke-others"),
    sends(owner, "/account/revoke"),
  ];
}
