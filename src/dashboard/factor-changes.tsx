/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Factors } from "../sign-in/factors.ts";
import type { PendingSignIns } from "../sign-in/pending-sign-ins.ts";
import type { Sessions } from "../sign-in/sessions.ts";
import { RecoveryCodesPage } from "./factor-pages.tsx";
import type { Outcome, Visit } from "./guard.tsx";
import { PATHS } from "./navigation.tsx";

export type FactorChanges = ReturnType<typeof createFactorChanges>;

/** What goes with every change of a person's second factors. */
export function createFactorChanges({
  factors,
  pendingSignIns,
  sessions,
}: {
  factors: Pick<Factors, "issueFirstCodes" | "tidy">;
  pendingSignIns: Pick<PendingSignIns, "endAll">;
  sessions: Pick<Sessions, "revokeOthers">;
}) {
  /** What was begun by other means ends: it may not be the person's. */
  const endOthers = ({ account, session }: Visit) => {
    sessions.revokeOthers(account.id, session);
    pendingSignIns.endAll(account.id);
  };

  return {
    /** What follows when a factor was set up: with the first one, recovery codes. */
    added(visit: Visit, notice: string): Outcome {
      const codes = factors.issueFirstCodes(visit.account.id);
      if (codes === null) return { to: PATHS.account, notice };
      endOthers(visit);
      return <RecoveryCodesPage visit={visit} codes={codes} />;
    },

    /** What follows when a factor was removed. */
    removed(visit: Visit, notice: string): Outcome {
      factors.tidy(visit.account.id);
      endOthers(visit);
      return { to: PATHS.account, notice };
    },
  };
}
