import type { Account } from "../accounts/account.ts";
import { type Accounts, createAccounts } from "../accounts/accounts.ts";
import { createQuotas } from "../accounts/quotas.ts";
import { createSpaceInvitations } from "../accounts/space-invitations.ts";
import { createSpaces } from "../accounts/spaces.ts";
import type { Config } from "../config/config.ts";
import { databasePath } from "../db/data-lock.ts";
import type { Database } from "../db/database.ts";
import { explainDatabaseError } from "../db/database-error.ts";
import { openSqlite } from "../db/sqlite.ts";
import { messageOf } from "../errors.ts";
import { createKeys } from "../keys/keys.ts";
import { silentLog } from "../log.ts";
import { createGrants } from "../oauth/grants.ts";
import type { Facts, SecurityEvent } from "../security-log/events.ts";
import { createSecurityLog } from "../security-log/security-log.ts";
import { createFactors } from "../sign-in/second-step/factors.ts";
import { createPendingSignIns } from "../sign-in/second-step/second-step.ts";
import { createSessions } from "../sign-in/sessions/sessions.ts";
import { CommandError, say } from "./terminal.ts";

/**
 * Opens the stores of accounts, keys and grants while `use` runs. The events that `use` records, such as
 * `record("key_revoked", { accountId, subjectId: key.id, subject: key.name })`, are written at its end.
 * @throws DatabaseError when the database can't be used
 */
export async function withStores<T>(
  config: Pick<Config, "dataDir" | "memberQuota" | "shared">,
  use: (stores: Stores) => Promise<T>,
): Promise<T> {
  const db = await openDatabase(config);
  try {
    await using securityLog = openSecurityLog(db);
    return await use(createStores(db, securityLog, config.memberQuota));
  } catch (error) {
    throw explainDatabaseError(error, databasePath(config.dataDir)) ?? error;
  } finally {
    await db.close();
  }
}

type CommandLog = ReturnType<typeof openSecurityLog>;
export type Stores = ReturnType<typeof createStores>;

function createStores(
  db: Database,
  { record, list: listEvents }: CommandLog,
  memberQuota: Config["memberQuota"],
) {
  const clock = Date.now;
  return {
    record,
    listEvents,
    accounts: createAccounts({ db, clock }),
    quotas: createQuotas({ db, ofMembers: memberQuota }),
    spaces: createSpaces({ db, clock }),
    spaceInvitations: createSpaceInvitations({ db, clock }),
    keys: createKeys({ db, clock }),
    grants: createGrants({ db, clock }),
    sessions: createSessions({ db, clock }),
    factors: createFactors({ db, clock }),
    pendingSignIns: createPendingSignIns({ db, clock }),
  };
}

/** Opens the database: the one of the data folder, or the one that several servers share. */
async function openDatabase({ dataDir, shared }: Pick<Config, "dataDir" | "shared">) {
  if (!shared) return openSqlite(databasePath(dataDir));
  return (await import("../server/shared-database.ts")).openForCommand(shared);
}

/** Records an event of a command that needs no other store. It never fails. */
export async function recordCommand(
  config: Parameters<typeof withStores>[0],
  ...event: Parameters<CommandLog["record"]>
): Promise<void> {
  try {
    await withStores(config, async ({ record }) => record(...event));
  } catch (error) {
    say(`ctxd: the security log could not be written: ${messageOf(error)}`);
  }
}

/**
 * Opens the security log for a command. The command writes rows only: the server reads them and writes the
 * log lines. A failure to write a row does not fail a command that has done its work.
 */
function openSecurityLog(db: Database) {
  const options = { db, clock: Date.now, log: silentLog, isWaiting: true };
  const { record, list, close } = createSecurityLog(options);
  return {
    list,
    record: (event: SecurityEvent, facts: Omit<Facts, "via">) =>
      record(event, { ...facts, via: "command" }),
    async [Symbol.asyncDispose]() {
      try {
        await close();
      } catch (error) {
        say(`ctxd: the security log could not be written: ${messageOf(error)}`);
      }
    },
  };
}

/** Finds the account with an e-mail address. @throws CommandError that says how to add one */
export async function requireAccount(accounts: Accounts, email: string): Promise<Account> {
  const account = await accounts.findByEmail(email);
  if (account) return account;
  throw new CommandError(
    "No account has this e-mail address: ctxd user list shows all, ctxd user add EMAIL adds one.",
  );
}
