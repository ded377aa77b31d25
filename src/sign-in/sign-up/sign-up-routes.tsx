/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Account, NewAccount } from "../../accounts/account.ts";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import type { RecordEvent } from "../../http/record-event.ts";
import { readForm } from "../../http/requests/form.ts";
import { clientAddress, createHostCheck } from "../../http/requests/proxy.ts";
import { seeOther } from "../../http/responses.ts";
import { type Cookies, checkForm, FORM_TOKEN } from "../../pages/cookies.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { answerWithPage, pageResponse } from "../../pages/page-response.tsx";
import { JOIN_PATH, SET_UP_PATH, SIGN_IN_PATH, SIGN_UP_PATH, WELCOME_PATH } from "../paths.ts";
import type { Provider } from "../providers/provider.ts";
import type { Visitors } from "../sessions/visitor.ts";
import type { SignUp } from "./sign-up.ts";
import { type Again, createSignUpPages } from "./sign-up-pages.tsx";

const HIDDEN = { parse: "none", detail: { hide: true } } as const;

type Awaitable<T> = T | Promise<T>;

/** The routes that create accounts: set-up, invitation, sign-up. */
export function createSignUpRoutes({
  config,
  cookies,
  visitors,
  record,
  signUp,
  providers,
}: {
  config: Pick<Config, "publicUrl" | "trustProxy" | "passwords">;
  cookies: Cookies;
  visitors: Visitors;
  record: RecordEvent;
  signUp: SignUp;
  providers: readonly Provider[];
}) {
  const { publicUrl, passwords } = config;
  const checkHost = createHostCheck(config);
  const { setUpPage, joinPage, signUpPage, ownerNeeded } = createSignUpPages({
    passwords,
    providers,
    signUp,
  });

  const show = (request: Request, render: (token: string) => Awaitable<Markup | Response>) =>
    answerWithPage(async () => {
      checkHost(request);
      const { token, headers } = visitors.issueFormToken(request);
      const page = await render(token);
      return page instanceof Response ? page : pageResponse(page, { headers });
    });

  /** Creates an account from a form, signs its person in and redirects, or shows the form again. */
  const receive = (
    request: Request,
    make: (wanted: NewAccount, form: URLSearchParams) => Promise<Account>,
    render: (token: string, form: URLSearchParams, again: Again) => Awaitable<Markup>,
    next = "/",
  ) =>
    answerWithPage(async () => {
      checkHost(request);
      const form = await readForm(request);
      const cookie = cookies.read(request, "visit");
      checkForm(request, { token: form.get(FORM_TOKEN), cookie, publicUrl });
      const email = form.get("email") ?? "";
      try {
        const account = await make({ email, password: form.get("password") ?? "" }, form);
        return seeOther(next, (await visitors.welcome(request, account.id)).setCookies);
      } catch (error) {
        const isAboutForm =
          error instanceof AppError && ["validation_failed", "conflict"].includes(error.code);
        if (!isAboutForm) throw error;
        const { token } = visitors.issueFormToken(request);
        const page = await render(token, form, { problem: error.message, email });
        return pageResponse(page, { status: error.status });
      }
    });

  return new Elysia()
    .get(
      SET_UP_PATH,
      ({ request }) =>
        show(request, async (token) => {
          if (await signUp.isSetUp()) return seeOther(SIGN_IN_PATH);
          const claim = new URL(request.url).searchParams.get("token") ?? "";
          if (signUp.allowsSetUp && (await signUp.mayClaim(claim))) return setUpPage(token, claim);
          return pageResponse(ownerNeeded(), { status: 403 });
        }),
      HIDDEN,
    )
    .post(
      SET_UP_PATH,
      ({ request }) =>
        receive(
          request,
          async (wanted, form) => {
            const account = await signUp.setUp(wanted, form.get("token"));
            record(request, "owner_set_up", { accountId: account.id });
            return account;
          },
          (token, form, again) => setUpPage(token, form.get("token") ?? "", again),
          WELCOME_PATH,
        ),
      HIDDEN,
    )
    .get(
      `${JOIN_PATH}/:secret`,
      ({ request, params }) => show(request, (token) => joinPage(token, params.secret)),
      HIDDEN,
    )
    .post(
      `${JOIN_PATH}/:secret`,
      ({ request, params: { secret } }) =>
        receive(
          request,
          async (wanted) => {
            const invitation = await signUp.findInvitation(secret);
            const account = await signUp.accept(secret, wanted);
            const facts = { accountId: account.id, subjectId: invitation?.id ?? null };
            record(request, "invitation_used", facts);
            record(request, "account_created", { accountId: account.id });
            return account;
          },
          (token, _, again) => joinPage(token, secret, again),
        ),
      HIDDEN,
    )
    .get(
      SIGN_UP_PATH,
      ({ request }) =>
        show(request, async (token) =>
          signUp.isOpen && (await signUp.isSetUp()) ? signUpPage(token) : seeOther(SIGN_IN_PATH),
        ),
      HIDDEN,
    )
    .post(
      SIGN_UP_PATH,
      ({ request }) =>
        receive(
          request,
          async (wanted) => {
            const account = await signUp.signUp(wanted, clientAddress(request, config));
            record(request, "account_created", { accountId: account.id });
            return account;
          },
          (token, _, again) => signUpPage(token, again),
        ),
      HIDDEN,
    );
}
