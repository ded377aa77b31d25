/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import type { RecordEvent } from "../../http/record-event.ts";
import { readForm } from "../../http/requests/form.ts";
import { clientAddress, createHostCheck } from "../../http/requests/proxy.ts";
import { againWithForm, seeOther } from "../../http/responses.ts";
import { answerWithPage } from "../../pages/error-page.tsx";
import { pageResponse } from "../../pages/page-response.ts";
import type { WebAuthn } from "../passkeys/webauthn.ts";
import { localPath, PROOF_PATH, SIGN_IN_PATH } from "../paths.ts";
import type { Provider } from "../providers/provider.ts";
import { asRateLimited } from "../rate-limited.ts";
import { checkForm, FORM_TOKEN } from "../sessions/form-token.ts";
import type { SignedIn, Visitors } from "../sessions/visitor.ts";
import type { Proof } from "./proof.ts";
import { PROOF, PROOF_OPTIONS, ProofPage, type Waiting } from "./proof-page.tsx";

const HIDDEN = { parse: "none", detail: { hide: true } } as const;

/** Answers with a page that asks for a proof. The page or form that needs it follows. */
export type AskForProof = (person: SignedIn, waiting: Waiting) => Promise<Response>;

export function createAskForProof({
  proof,
  providers,
}: {
  proof: Pick<Proof, "waysOf">;
  providers: readonly Provider[];
}) {
  return async (
    { account: { id, email }, token }: SignedIn,
    waiting: Waiting,
    problem?: string,
    answer: { status: number; headers?: Record<string, string> } = { status: 403 },
  ): Promise<Response> => {
    const ways = await proof.waysOf(id);
    const page = (
      <ProofPage
        token={token}
        email={email}
        ways={ways}
        providers={providers}
        waiting={waiting}
        problem={problem}
      />
    );
    return pageResponse(page, { ...answer, scripts: true });
  };
}

/** The page on which a signed-in person proves again who they are. */
export function createProofRoutes({
  config,
  visitors,
  proof,
  providers,
  webauthn,
  record,
}: {
  config: Pick<Config, "publicUrl" | "trustProxy">;
  visitors: Visitors;
  proof: Proof;
  providers: readonly Provider[];
  webauthn: WebAuthn;
  record: RecordEvent;
}) {
  const { publicUrl } = config;
  const checkHost = createHostCheck(config);
  const ask = createAskForProof({ proof, providers });

  /** The form, and the person who is signed in; null without one. */
  const receive = async (request: Request) => {
    checkHost(request);
    const form = await readForm(request);
    const person = await visitors.find(request);
    if (person === null) return null;
    checkForm(request, { token: form.get(FORM_TOKEN), cookie: person.session, publicUrl });
    return { person, form };
  };

  return new Elysia()
    .get(
      PROOF_PATH,
      ({ request }) =>
        answerWithPage(async () => {
          checkHost(request);
          const person = await visitors.find(request);
          const to = localPath(new URL(request.url).searchParams.get("next"), publicUrl) ?? "/";
          if (person === null)
            return seeOther(`${SIGN_IN_PATH}?${new URLSearchParams({ next: to })}`);
          if (await proof.isFresh(person)) return seeOther(to);
          return ask(person, { to, form: null }, undefined, { status: 200 });
        }),
      HIDDEN,
    )
    .post(
      PROOF_OPTIONS,
      async ({ request }) => {
        const received = await receive(request);
        if (received === null) throw new AppError("unauthorized", "You are no longer signed in.");
        const { session, account } = received.person;
        return webauthn.requestOptions(session, "proof", account.id);
      },
      HIDDEN,
    )
    .post(
      PROOF_PATH,
      ({ request }) =>
        answerWithPage(async () => {
          const received = await receive(request);
          if (received === null) return seeOther(SIGN_IN_PATH);
          const { person, form } = received;
          const to = localPath(form.get(PROOF.to), publicUrl) ?? "/";
          const waiting: Waiting = { to, form: form.has(PROOF.isForm) ? form : null };
          try {
            const address = clientAddress(request, config);
            const isRight = await proof.give(person, answerOf(form), address);
            if (!isRight) {
              record(request, "proof_failed", { accountId: person.account.id });
              return await ask(person, waiting, "This proof is wrong. Try again.", { status: 401 });
            }
            return waiting.form === null ? seeOther(to) : againWithForm(to);
          } catch (error) {
            const { message, ...answer } = asRateLimited(error);
            record(request, "proof_failed", { accountId: person.account.id });
            return ask(person, waiting, message, answer);
          }
        }),
      HIDDEN,
    );
}

/** The page has a form for each kind of proof. */
function answerOf(form: URLSearchParams) {
  const credential = form.get(PROOF.credential);
  const code = form.get(PROOF.code);
  if (credential !== null) return { credential };
  return code !== null ? { code } : { password: form.get(PROOF.password) ?? "" };
}
