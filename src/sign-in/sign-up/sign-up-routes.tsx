/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Account, NewAccount } from "../../accounts/account.ts";
import { AppError } from "../../errors.ts";
import { clientAddress } from "../../http/requests/proxy.ts";
import { seeOther } from "../../http/responses.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { PAGE_ROUTE, pageResponse } from "../../pages/page-response.tsx";
import { JOIN_PATH, SET_UP_PATH, SIGN_IN_PATH, SIGN_UP_PATH, WELCOME_PATH } from "../paths.ts";
import type { SignInParts } from "../routes.tsx";
import { type Again, createSignUpPages } from "./sign-up-pages.tsx";

type Awaitable<T> = T | Promise<T>;

/** The routes that create accounts: set-up, invitation, sign-up. */
export function createSignUpRoutes(parts: SignInParts) {
  const { config, pageGuard, visitors, record, signUp, providers } = parts;
  const { setUpPage, joinPage, signUpPage, ownerNeeded } = createSignUpPages({
    passwords: config.passwords,
    providers,
    signUp,
  });

  const show = (request: Request, render: (token: string) => Awaitable<Markup | Response>) =>
    pageGuard.page(request, async () => {
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
    pageGuard.page(request, async () => {
      const { form } = await pageGuard.receive(request, "visit");
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
    .guard(PAGE_ROUTE)
    .get(SET_UP_PATH, ({ request }) =>
      show(request, async (token) => {
        if (await signUp.isSetUp()) return seeOther(SIGN_IN_PATH);
        const claim = new URL(request.url).searchParams.get("token") ?? "";
        if (signUp.allowsSetUp && (await signUp.mayClaim(claim))) return setUpPage(token, claim);
        return pageResponse(ownerNeeded(), { status: 403 });
      }),
    )
    .post(SET_UP_PATH, ({ request }) =>
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
    )
    .get(`${JOIN_PATH}/:secret`, ({ request, params }) =>
      show(request, (token) => joinPage(token, params.secret)),
    )
    .post(`${JOIN_PATH}/:secret`, ({ request, params: { secret } }) =>
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
    )
    .get(SIGN_UP_PATH, ({ request }) =>
      show(request, async (token) =>
        signUp.isOpen && (await signUp.isSetUp()) ? signUpPage(token) : seeOther(SIGN_IN_PATH),
      ),
    )
    .post(SIGN_UP_PATH, ({ request }) =>
      receive(
        request,
        async (wanted) => {
          const account = await signUp.signUp(wanted, clientAddress(request, config));
          record(request, "account_created", { accountId: account.id });
          return account;
        },
        (token, _, again) => signUpPage(token, again),
      ),
    );
}
