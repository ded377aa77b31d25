/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Account, NewAccount } from "../../accounts/account.ts";
import { AppError } from "../../errors.ts";
import { clientAddress } from "../../http/requests/proxy.ts";
import { seeOther } from "../../http/responses.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { type Awaitable, pageResponse } from "../../pages/page-response.tsx";
import { JOIN_PATH, SET_UP_PATH, SIGN_IN_PATH, SIGN_UP_PATH, WELCOME_PATH } from "../paths.ts";
import type { SignInParts } from "../routes.tsx";
import { type Again, createSignUpPages } from "./sign-up-pages.tsx";

/** The routes that create accounts: set-up, invitation, sign-up. */
export function createSignUpRoutes(parts: SignInParts) {
  const { config, pageGuard, visitors, record, signUp, providers } = parts;
  const { setUpPage, joinPage, signUpPage, ownerNeeded } = createSignUpPages({
    passwords: config.passwords,
    providers,
    signUp,
  });

  const pages = pageGuard.createPages();

  const show = async (request: Request, render: (token: string) => Awaitable<Markup>) => {
    const { token, headers } = pageGuard.issueFormToken(request);
    return pageResponse(await render(token), { headers });
  };

  /** Creates an account from a form, signs its person in and redirects, or shows the form again. */
  const receive = async (
    request: Request,
    make: (wanted: NewAccount, form: URLSearchParams) => Promise<Account>,
    render: (token: string, form: URLSearchParams, again: Again) => Awaitable<Markup>,
    next = "/",
  ) => {
    const { form } = await pageGuard.receive(request, "visit");
    const email = form.get("email") ?? "";
    try {
      const account = await make({ email, password: form.get("password") ?? "" }, form);
      return seeOther(next, (await visitors.welcome(request, account.id)).setCookies);
    } catch (error) {
      const isAboutForm =
        error instanceof AppError && ["validation_failed", "conflict"].includes(error.code);
      if (!isAboutForm) throw error;
      const { token } = pageGuard.issueFormToken(request);
      const page = await render(token, form, { problem: error.message, email });
      return pageResponse(page, { status: error.status });
    }
  };

  pages.get(SET_UP_PATH, async (request) => {
    if (await signUp.isSetUp()) return seeOther(SIGN_IN_PATH);
    const claim = new URL(request.url).searchParams.get("token") ?? "";
    return signUp.allowsSetUp && (await signUp.mayClaim(claim))
      ? show(request, (token) => setUpPage(token, claim))
      : pageResponse(ownerNeeded(), { status: 403 });
  });
  pages.post(SET_UP_PATH, (request) =>
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
  );
  pages.get(`${JOIN_PATH}/:secret`, (request, secret) =>
    show(request, (token) => joinPage(token, secret)),
  );
  pages.post(`${JOIN_PATH}/:secret`, (request, secret) =>
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
  );
  pages.get(SIGN_UP_PATH, async (request) =>
    signUp.isOpen && (await signUp.isSetUp()) ? show(request, signUpPage) : seeOther(SIGN_IN_PATH),
  );
  pages.post(SIGN_UP_PATH, (request) =>
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
  return pages.routes;
}
