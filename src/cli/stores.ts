import { type Account, type Accounts, createAccounts } from "../accounts/accounts.ts";
import { createQuotas, type Quotas } from "../accounts/quotas.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { explainDatabaseError } from "../db/database-error.ts";
import { databasePath, openSqlite } from "../db/sqlite.ts";
import { messageOf } from "../errors.ts";
import { createKeys, type Keys } from "../keys/keys.ts";
import { createLog } from "../log.ts";
import { createGrants, type Grants } from "../oauth/grants.ts";
import type { Facts, SecurityEvent } from "../security-log/events.ts";
import { createSecurityLog, type SecurityLog } from "../security-log/security-log.ts";
import { createFactors, type Factors } from "../sign-in/factors.ts";
import { createPendingSignIns, type PendingSignIns } from "../sign-in/pending-sign-ins.ts";
import { createSessions, type Sessions } from "../sign-in/sessions.ts";
import { CommandError } from "./command-error.ts";
import { say } from "./terminal.ts";

/** Tells the security log what a command has done. */
export type RecordCommand = (event: SecurityEvent, facts: Omit<Facts, "via">) => void;

interface CommandLog extends AsyncDisposable {
  record: RecordCommand;
}

interface Stores {
  accounts: Accounts;
  quotas: Quotas;
  keys: Keys;
  grants: Grants;
  sessions: Sessions;
  factors: Factors;
  pendingSignIns: PendingSignIns;
  record: RecordCommand;
  listEvents: SecurityLog["list"];
}

/**
 * Opens accounts, keys and grants for as long as `use` takes. What it has recorded is written when it
 * has ended: `record("key_revoked", { accountId, subjectId: key.id, subject: key.name })`.
 * @throws DatabaseError when the database can't be used
 */
export async function withStores<T>(
  config: Pick<Config, "dataDir" | "memberQuota" | "shared">,
  use: (stores: Stores) => Promise<T>,
): Promise<T> {
  const { memberQuota } = config;
  const db = await openAccounts(config);
  try {
    const clock = Date.now;
    await using securityLog = openSecurityLog(db);
    return await use({
      record: securityLog.record,
      listEvents: securityLog.list,
      accounts: createAccounts({ db, clock }),
      quotas: createQuotas({ db, ofMembers: memberQuota }),
      keys: createKeys({ db, clock }),
      grants: createGrants({ db, clock }),
      sessions: createSessions({ db, clock }),
      factors: createFactors({ db, clock }),
      pendingSignIns: createPendingSignIns({ db, clock }),
    });
  } catch (error) {
    throw explainDatabaseError(error, databasePath(config.dataDir)) ?? error;
  } finally {
    await db.close();
  }
}

/** The database of the settings: in the data folder, or the one that several servers share. */
async function openAccounts({ dataDir, shared }: Pick<Config, "dataDir" | "shared">) {
  if (!shared) return openSqlite(databasePath(dataDir));
  return (await import("../server/shared-database.ts")).openForCommand(shared);
}

/** Tells the security log what a command has done that needs no store otherwise. It never fails. */
export async function recordCommand(
  config: Parameters<typeof withStores>[0],
  ...told: Parameters<RecordCommand>
): Promise<void> {
  try {
    await withStores(config, async ({ record }) => record(...told));
  } catch (error) {
    say(`ctxd: this is not in the security log: ${messageOf(error)}`);
  }
}

/**
 * A command writes no lines: the server tells them when it sees the rows. A failure to write them
 * must not make a command that has done its work fail.
 */
function openSecurityLog(db: Database): Pick<SecurityLog, "list"> & CommandLog {
  const log = createLog({ logLevel: "silent", logFormat: "text" });
  const { record, list, close } = createSecurityLog({
    db,
    clock: Date.now,
    log,
    isWaiting: true,
  });
  return {
    list,
    record: (event, facts) => record(event, { ...facts, via: "command" }),
    async [Symbol.asyncDispose]() {
      try {
        await close();
      } catch (error) {
        say(`ctxd: this is not in the security log: ${messageOf(error)}`);
      }
    },
  };
}

/** The account with an address, or an error that says how to get one. */
export async function requireAccount(accounts: Accounts, email: string): Promise<Account> {
  const account = await accounts.findByEmail(email);
  if (account) return account;
  throw new CommandError(
    "No account has this e-mail address: ctxd user list shows all, ctxd user add EMAIL adds one.",
  );
}
