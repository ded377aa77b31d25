/** @jsxRuntime automatic @jsxImportSource #pages */
import type { RecordEvent } from "../../http/record-event.ts";
import type { Factors } from "../../sign-in/factors.ts";
import type { PendingSignIns } from "../../sign-in/pending-sign-ins.ts";
import type { Sessions } from "../../sign-in/sessions.ts";
import type { FormOutcome } from "../guard.tsx";
import { PATHS } from "../navigation.tsx";
import type { Visit } from "../visit.ts";
import { RecoveryCodesPage } from "./factor-pages.tsx";

export type FactorChanges = ReturnType<typeof createFactorChanges>;

/** Ends other sessions and issues recovery codes when a person's second factors change. */
export function createFactorChanges({
  factors,
  pendingSignIns,
  sessions,
  record,
}: {
  factors: Pick<Factors, "issueFirstCodes" | "tidy">;
  pendingSignIns: Pick<PendingSignIns, "endAll">;
  sessions: Pick<Sessions, "revokeOthers">;
  record: RecordEvent;
}) {
  /** Ends the person's other sessions and unfinished sign-ins: an intruder may have started them. */
  const endOthers = async (request: Request, { account, session }: Visit) => {
    const amount = await sessions.revokeOthers(account.id, session);
    if (amount > 0) record(request, "sessions_ended", { accountId: account.id, amount });
    await pendingSignIns.endAll(account.id);
  };

  return {
    /** After a factor was added. The first factor comes with recovery codes. */
    async added(request: Request, visit: Visit, notice: string): Promise<FormOutcome> {
      const codes = await factors.issueFirstCodes(visit.account.id);
      if (codes === null) return { to: PATHS.account, notice };
      await endOthers(request, visit);
      record(request, "recovery_codes_created", { accountId: visit.account.id });
      return <RecoveryCodesPage visit={visit} codes={codes} />;
    },

    /** After a factor was removed. */
    async removed(request: Request, visit: Visit, notice: string): Promise<FormOutcome> {
      await factors.tidy(visit.account.id);
      await endOthers(request, visit);
      return { to: PATHS.account, notice };
    },
  };
}
