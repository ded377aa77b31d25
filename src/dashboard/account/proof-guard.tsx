/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Config } from "../../config/config.ts";
import type { RecordEvent } from "../../http/record-event.ts";
import { seeOther } from "../../http/responses.ts";
import { localPath, PROOF_PATH } from "../../sign-in/paths.ts";
import type { Factors } from "../../sign-in/second-step/factors.ts";
import type { Proof } from "../../sign-in/second-step/proof.ts";
import type { AskForProof } from "../../sign-in/second-step/proof-routes.tsx";
import type { PendingSignIns } from "../../sign-in/second-step/second-step.ts";
import type { Sessions } from "../../sign-in/sessions/sessions.ts";
import type { FormOutcome, Guard } from "../guard.tsx";
import { PATHS } from "../navigation.tsx";
import type { Visit } from "../session.ts";
import { RecoveryCodesPage } from "./factor-pages.tsx";

export interface ProofGuard {
  /** @param next the page to open after the proof, if it is not the requested one */
  show(request: Request, render: Parameters<Guard["show"]>[1], next?: string): Promise<Response>;
  act: Guard["act"];
}

/**
 * Guards pages and forms that a stolen session must not reach. It works like `Guard`, but first asks for a proof of
 * identity, such as the password, unless the last proof is fresh.
 */
export function createProofGuard({
  config: { publicUrl },
  guard,
  proof,
  askForProof,
}: {
  config: Pick<Config, "publicUrl">;
  guard: Pick<Guard, "show" | "act">;
  proof: Pick<Proof, "isFresh">;
  askForProof: AskForProof;
}): ProofGuard {
  const pathOf = ({ pathname, search }: URL) => localPath(pathname + search, publicUrl) ?? "/";

  return {
    show: (request, render, next) =>
      guard.show(request, async (visit) => {
        if (await proof.isFresh(visit)) return render(visit);
        const query = new URLSearchParams({ next: next ?? pathOf(visit.url) });
        return seeOther(`${PROOF_PATH}?${query}`);
      }),

    act: (request, work, renderProblem, maxBytes) =>
      guard.act(
        request,
        async (visit, form) =>
          (await proof.isFresh(visit))
            ? work(visit, form)
            : askForProof(visit, { to: pathOf(visit.url), form }),
        renderProblem,
        maxBytes,
      ),
  };
}

export type FactorChanges = ReturnType<typeof createFactorChanges>;

/** Ends other sessions and issues recovery codes when a person's second factors change. */
export function createFactorChanges({
  factors: { recoveryCodes },
  pendingSignIns,
  sessions,
  record,
}: {
  factors: Pick<Factors, "recoveryCodes">;
  pendingSignIns: Pick<PendingSignIns, "endAll">;
  sessions: Pick<Sessions, "revokeAll">;
  record: RecordEvent;
}) {
  /** Ends the person's other sessions and unfinished sign-ins: an intruder may have started them. */
  const endOthers = async ({ account, request, session }: Visit) => {
    const amount = await sessions.revokeAll(account.id, session);
    if (amount > 0) record(request, "sessions_ended", { accountId: account.id, amount });
    await pendingSignIns.endAll(account.id);
  };

  return {
    /** After a factor was added. The first factor comes with recovery codes. */
    async added(visit: Visit, notice: string): Promise<FormOutcome> {
      const codes = await recoveryCodes.issueFirst(visit.account.id);
      if (codes === null) return { to: PATHS.account, notice };
      await endOthers(visit);
      record(visit.request, "recovery_codes_created", { accountId: visit.account.id });
      return <RecoveryCodesPage visit={visit} codes={codes} />;
    },

    /** After a factor was removed. */
    async removed(visit: Visit, notice: string): Promise<FormOutcome> {
      await recoveryCodes.removeUnneeded(visit.account.id);
      await endOthers(visit);
      return { to: PATHS.account, notice };
    },
  };
}
