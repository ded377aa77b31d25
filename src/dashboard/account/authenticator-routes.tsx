/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import type { RecordEvent } from "../../http/record-event.ts";
import { CODE } from "../../sign-in/second-step/code-form.tsx";
import type { Factors } from "../../sign-in/second-step/factors.ts";
import { PAGE_ROUTE } from "../guard.tsx";
import type { Visit } from "../visit.ts";
import { APP_PATH, AppPage, RECOVERY_CODES_PATH, RecoveryCodesPage } from "./factor-pages.tsx";
import type { FactorChanges, ProofGuard } from "./proof-guard.tsx";

/** Sets up and removes the authenticator app and recovery codes. Every request needs a fresh proof. */
export function createAuthenticatorRoutes({
  config,
  proved,
  changes,
  factors,
  record,
}: {
  config: Pick<Config, "publicUrl">;
  proved: ProofGuard;
  changes: FactorChanges;
  factors: Factors;
  record: RecordEvent;
}) {
  const { oneTimeCodes, recoveryCodes } = factors;
  const issuer = `ctxd (${new URL(config.publicUrl).host})`;

  const appPage = async (visit: Visit, problem?: string) => {
    const secret = await oneTimeCodes.findUnconfirmed(visit.account.id);
    if (secret === null)
      throw new AppError("not_found", "Set up an authenticator app on the page Account first.");
    return <AppPage visit={visit} secret={secret} issuer={issuer} {...(problem && { problem })} />;
  };

  return new Elysia()
    .post(
      APP_PATH,
      ({ request }) =>
        proved.act(request, async ({ account }) => {
          await oneTimeCodes.begin(account.id);
          return { to: APP_PATH };
        }),
      PAGE_ROUTE,
    )
    .get(APP_PATH, ({ request }) => proved.show(request, (visit) => appPage(visit)), PAGE_ROUTE)
    .post(
      `${APP_PATH}/confirm`,
      ({ request }) =>
        proved.act(
          request,
          async (visit, form) => {
            if (!(await oneTimeCodes.confirm(visit.account.id, form.get(CODE) ?? ""))) {
              throw new AppError(
                "validation_failed",
                "This code is wrong. Enter the code that the app shows now.",
              );
            }
            record(request, "second_step_enabled", { accountId: visit.account.id });
            return changes.added(request, visit, "The authenticator app is set up.");
          },
          appPage,
        ),
      PAGE_ROUTE,
    )
    .post(
      `${APP_PATH}/remove`,
      ({ request }) =>
        proved.act(request, async (visit) => {
          await oneTimeCodes.remove(visit.account.id);
          record(request, "second_step_disabled", { accountId: visit.account.id });
          return changes.removed(request, visit, "The authenticator app is removed.");
        }),
      PAGE_ROUTE,
    )
    .post(
      RECOVERY_CODES_PATH,
      ({ request }) =>
        proved.act(request, async (visit) => {
          if (!(await factors.isSetUp(visit.account.id))) {
            throw new AppError("conflict", "Set up a passkey or an authenticator app first.");
          }
          const codes = await recoveryCodes.replace(visit.account.id);
          record(request, "recovery_codes_created", { accountId: visit.account.id });
          return <RecoveryCodesPage visit={visit} codes={codes} />;
        }),
      PAGE_ROUTE,
    );
}
