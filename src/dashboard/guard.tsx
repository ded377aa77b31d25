/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { type FormWithFiles, readFiles, readForm } from "../http/form.ts";
import { createHostCheck } from "../http/public-host.ts";
import { seeOther } from "../http/see-other.ts";
import { answerWithPage } from "../pages/error-page.tsx";
import { Markup } from "../pages/jsx-runtime.ts";
import { pageResponse } from "../pages/page-response.ts";
import type { Cookies } from "../sign-in/cookies.ts";
import { checkForm, FORM_TOKEN } from "../sign-in/form-token.ts";
import { localPath } from "../sign-in/local-path.ts";
import { createNotices } from "../sign-in/notices.ts";
import { SET_UP_PATH, SIGN_IN_PATH } from "../sign-in/paths.ts";
import type { SignedIn, Visitors, Welcome } from "../sign-in/visitor.ts";
import { Page } from "./page.tsx";
import type { Visit } from "./visit.ts";

/** An answer that is still made when its first part is sent. */
export interface Streamed {
  response: Response;
  ended: Promise<void>;
}

/** What a form leads to: another page, which says what was done, or an answer of its own. */
export type Outcome = SeeOther | Markup | Response;

interface SeeOther {
  to: string;
  notice?: string;
  /** The session that takes the place of the one that asked. */
  welcome?: Welcome;
}

type Awaitable<T> = T | Promise<T>;

export type Guard = ReturnType<typeof createGuard>;

/** Options of a route whose handler is `show` or `act`. */
export const PAGE_ROUTE = { parse: "none", detail: { hide: true } } as const;

/**
 * Stands before every page of the dashboard: who is not signed in goes to the sign-in page, and on
 * an empty server to the set-up page; forms that are not ours are refused. A `GET` route is
 * `guard.show(request, (visit) => <MyPage visit={visit} />)`; a `POST` route is
 * `guard.act(request, (visit, form) => ({ to: PATHS.keys, notice: "Done." }))`.
 */
export function createGuard({
  config,
  cookies,
  visitors,
  isSetUp,
}: {
  config: Pick<Config, "publicUrl" | "trustProxy">;
  cookies: Cookies;
  visitors: Visitors;
  /** Whether the server has an owner who can sign in. */
  isSetUp: () => Promise<boolean>;
}) {
  const { publicUrl } = config;
  const checkHost = createHostCheck(config);
  const notices = createNotices({ cookies });
  /** Accounts whose files are in memory. */
  const uploading = new Set<string>();

  const askToSignIn = async (next: string | null) =>
    (await isSetUp())
      ? seeOther(`${SIGN_IN_PATH}?${new URLSearchParams({ next: next ?? "/" })}`)
      : seeOther(SET_UP_PATH);

  const visitOf = (request: Request, person: SignedIn): Visit => ({
    ...person,
    notice: notices.read(request, person.session),
    url: new URL(request.url),
    async stillSignedIn() {
      if ((await visitors.find(request))?.account.id === person.account.id) return;
      throw new AppError("unauthorized", "You have been signed out meanwhile.");
    },
  });

  /** What a form leads to, as an answer. */
  const answer = (outcome: Outcome, visit: Visit): Response => {
    if (outcome instanceof Response) return outcome;
    if (outcome instanceof Markup) return pageResponse(outcome, { scripts: true });
    const { to, notice, welcome } = outcome;
    const { session, setCookies } = welcome ?? { session: visit.session, setCookies: [] };
    const left = notice === undefined ? [] : [notices.leave(notice, session)];
    return seeOther(to, [...setCookies, ...left]);
  };

  /** Shows what is wrong with what was asked for or entered; the rest is the app's. */
  const explaining = async (
    visit: Visit,
    work: () => Promise<Response>,
    again: (problem: string) => Awaitable<Markup> = (problem) => (
      <Page visit={visit} section={null} title="This does not work" problem={problem} />
    ),
  ): Promise<Response> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      return pageResponse(await again(error.message), { status: error.status, scripts: true });
    }
  };

  return {
    /** Answers a `GET` with a page. An `AppError` of `render` becomes a page that says it. */
    show(
      request: Request,
      render: (visit: Visit) => Awaitable<Markup | Response>,
    ): Promise<Response> {
      return answerWithPage(async () => {
        checkHost(request);
        const { pathname, search } = new URL(request.url);
        const person = await visitors.find(request);
        if (person === null) return askToSignIn(localPath(pathname + search, publicUrl));
        const visit = visitOf(request, person);
        return explaining(visit, async () => {
          const page = await render(visit);
          if (page instanceof Response) return page;
          const headers = visit.notice === null ? {} : { "set-cookie": notices.clear() };
          return pageResponse(page, { headers, scripts: true });
        });
      });
    },

    /**
     * Answers a `POST` of a form with `PostForm`'s proof.
     * @param again the page to show, with what is wrong, when `work` throws an `AppError` about what
     * was entered; without it, that becomes a page of its own
     * @param maxBytes of the form, where it may be longer than most
     */
    act(
      request: Request,
      work: (visit: Visit, form: URLSearchParams) => Awaitable<Outcome>,
      again?: (visit: Visit, problem: string, form: URLSearchParams) => Awaitable<Markup>,
      maxBytes?: number,
    ): Promise<Response> {
      return answerWithPage(async () => {
        checkHost(request);
        const form = await readForm(request, maxBytes);
        const person = await visitors.find(request);
        if (person === null) return askToSignIn(refererOf(request, publicUrl));
        checkForm(request, { token: form.get(FORM_TOKEN), cookie: person.session, publicUrl });
        const visit: Visit = { ...visitOf(request, person), notice: null };
        return explaining(
          visit,
          async () => answer(await work(visit, form), visit),
          again && ((problem) => again(visit, problem, form)),
        );
      });
    },

    /**
     * Answers a `POST` of a form with files, by `PostForm`'s proof and only to who is signed in. One
     * at a time for each account until the answer has ended, since files are in memory.
     */
    upload(
      request: Request,
      work: (visit: Visit, form: FormWithFiles) => Awaitable<Streamed>,
      maxBytes: number,
    ): Promise<Response> {
      return answerWithPage(async () => {
        checkHost(request);
        const person = await visitors.find(request);
        if (person === null) return askToSignIn(refererOf(request, publicUrl));
        const { id } = person.account;
        if (uploading.has(id)) {
          throw new AppError("rate_limited", "A file of yours is being read: try again after it.", {
            retryAfter: 10,
          });
        }
        uploading.add(id);
        let ended = Promise.resolve();
        try {
          const form = await readFiles(request, maxBytes);
          const token = form.get(FORM_TOKEN);
          const proof = typeof token === "string" ? token : null;
          checkForm(request, { token: proof, cookie: person.session, publicUrl });
          const visit: Visit = { ...visitOf(request, person), notice: null };
          return await explaining(visit, async () => {
            const streamed = await work(visit, form);
            ended = streamed.ended;
            return streamed.response;
          });
        } finally {
          void ended.finally(() => uploading.delete(id));
        }
      });
    },
  };
}

/** The page of ours that a form was on. */
function refererOf(request: Request, publicUrl: string): string | null {
  const url = URL.parse(request.headers.get("referer") ?? "");
  return url?.origin === publicUrl ? localPath(url.pathname + url.search, publicUrl) : null;
}
