/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { isSameSecret } from "../../db/id.ts";
import { AppError } from "../../errors.ts";
import { seeOther } from "../../http/responses.ts";
import { formToken, linkProof } from "../../pages/cookies.ts";
import { MessagePage } from "../../pages/layout.tsx";
import { errorTitle, PAGE_ROUTE, pageResponse } from "../../pages/page-response.tsx";
import { ACCOUNT_PATH, localPath, PROOF_PATH, SIGN_IN_PATH, WITH_PATH } from "../paths.ts";
import type { SignInParts } from "../routes.tsx";

/** The routes to a provider and back. */
export function createProviderRoutes(parts: SignInParts) {
  const { config, pageGuard, cookies, visitors, providerSignIn, record, secondStep, proof, log } =
    parts;
  const { publicUrl } = config;

  /** Turns an error into a page with a link back. */
  const answer = async (request: Request, id: string, work: () => Promise<Response>) => {
    const isHere = (await visitors.find(request)) !== null;
    try {
      pageGuard.checkHost(request);
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "internal") throw error;
      if (error.code === "unavailable") {
        log.warn("provider_failed", { provider: id, cause: String(error.cause) });
      }
      const link = isHere
        ? { href: ACCOUNT_PATH, label: "Back to your account" }
        : { href: SIGN_IN_PATH, label: "Back to sign-in" };
      const page = (
        <MessagePage title={errorTitle(error.status)} message={error.message} link={link} />
      );
      return pageResponse(page, { status: error.status });
    }
  };

  return new Elysia()
    .guard(PAGE_ROUTE)
    .get(`${WITH_PATH}/:id`, ({ request, params: { id } }) =>
      answer(request, id, async () => {
        const { searchParams } = new URL(request.url);
        const next = localPath(searchParams.get("next"), publicUrl);
        const invitation = searchParams.get("invitation");
        const link = searchParams.get("link");
        const person = await visitors.find(request);
        if (link !== null) {
          if (!person || !isSameSecret(link, linkProof(person.token))) {
            throw new AppError("forbidden", "Connect a provider on the page Account.");
          }
          if (!(await proof.isFresh(person))) {
            const here = localPath(`${WITH_PATH}/${id}?${searchParams}`, publicUrl) ?? "/";
            return seeOther(`${PROOF_PATH}?${new URLSearchParams({ next: here })}`);
          }
          const linkTo = person.account.id;
          const purpose = { next: ACCOUNT_PATH, invitation: null, linkTo };
          return seeOther((await providerSignIn.start(id, person.token, purpose)).href);
        }
        const { token, headers } = pageGuard.issueFormToken(request);
        const url = await providerSignIn.start(id, token, { next, invitation, linkTo: null });
        return seeOther(url.href, Object.values(headers));
      }),
    )
    .get(`${WITH_PATH}/:id/callback`, ({ request, params: { id } }) =>
      answer(request, id, async () => {
        const { searchParams } = new URL(request.url);
        const visit = cookies.read(request, "visit");
        // Only while the session lasts: a sign-in that a session began ends with it.
        const signedIn = async () => (await visitors.find(request))?.token ?? null;
        const browsers = async () =>
          [visit && formToken(visit), await signedIn()].filter((name) => name !== null);
        const arrival = await providerSignIn
          .finish(id, browsers, searchParams)
          .catch((error: unknown) => {
            const isRefused = error instanceof AppError && error.code === "forbidden";
            if (isRefused) record(request, "sign_in_failed", { accountId: null });
            throw error;
          });
        const { accountId, next, isLinked, isNew, invitationId, provider } = arrival;
        const through = { accountId, subjectId: provider.id, subject: provider.name };
        if (isLinked) {
          record(request, "provider_connected", through);
          return seeOther(next ?? "/");
        }
        // The provider is a first factor: a second factor is required as after a password.
        const { to, setCookies, isSignedIn } = await secondStep.afterFirstStep(request, {
          accountId,
          next,
        });
        if (invitationId)
          record(request, "invitation_used", { accountId, subjectId: invitationId });
        if (isNew) record(request, "account_created", through);
        else if (isSignedIn) record(request, "signed_in", through);
        return seeOther(to, setCookies);
      }),
    );
}
