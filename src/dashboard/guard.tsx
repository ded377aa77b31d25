/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../errors.ts";
import { type FormWithFiles, readFiles, readForm } from "../http/requests/form.ts";
import { createHostCheck } from "../http/requests/proxy.ts";
import { seeOther } from "../http/responses.ts";
import { checkForm, createNotices, FORM_TOKEN } from "../pages/cookies.ts";
import { Markup } from "../pages/jsx-runtime.ts";
import {
  type Awaitable,
  answerWithPage,
  errorTitle,
  pageResponse,
} from "../pages/page-response.tsx";
import { localPath, PROOF_PATH, SET_UP_PATH, SIGN_IN_PATH } from "../sign-in/paths.ts";
import type { SignInParts } from "../sign-in/routes.tsx";
import type { AskForProof } from "../sign-in/second-step/proof-routes.tsx";
import type { SignedIn, Welcome } from "../sign-in/sessions/visitor.ts";
import { Page } from "./page.tsx";
import { asPerson, checkFormPlace, type Places } from "./place.ts";
import type { Visit } from "./session.ts";

/** A response that is streamed. `ended` resolves when its last part is sent. */
export interface Streamed {
  response: Response;
  ended: Promise<void>;
}

/** The answer to a form: a redirect with a notice, a page, or another response. */
export type FormOutcome = SeeOther | Markup | Response;

interface SeeOther {
  to: string;
  notice?: string;
  /** A new session that replaces the current one. */
  welcome?: Welcome;
}

export type Guard = ReturnType<typeof createGuard>;

/**
 * Guards every page of the dashboard. Visitors who are not signed in are redirected to the sign-in page, or to the
 * set-up page if the server has no owner. Forms of other sites are refused. `createPages` uses it.
 */
export function createGuard({
  config,
  cookies,
  visitors,
  isSetUp,
  proof,
  askForProof,
  places,
  isOfMemories,
}: Pick<SignInParts, "config" | "cookies" | "visitors" | "proof"> & {
  /** Whether the server has an owner who can sign in. */
  isSetUp: () => Promise<boolean>;
  askForProof: AskForProof;
  places: Places;
  /** Whether the pages show the memories of the chosen space. Others are of the person. */
  isOfMemories: boolean;
}) {
  const { publicUrl } = config;
  const checkHost = createHostCheck(config);
  const notices = createNotices({ cookies });
  /** Accounts whose uploaded files are in memory. */
  const uploading = new Set<string>();

  const askToSignIn = async (next: string | null) =>
    (await isSetUp())
      ? seeOther(`${SIGN_IN_PATH}?${new URLSearchParams({ next: next ?? "/" })}`)
      : seeOther(SET_UP_PATH);

  const visitOf = (request: Request, person: SignedIn) =>
    places.visitOf(request, person, isOfMemories);

  /** Turns the outcome of a form into a response. */
  const toResponse = (outcome: FormOutcome, visit: Visit): Response => {
    if (outcome instanceof Response) return outcome;
    if (outcome instanceof Markup) return pageResponse(outcome, { scripts: true });
    const { to, notice, welcome } = outcome;
    const { session, setCookies } = welcome ?? { session: visit.session, setCookies: [] };
    const noticeCookies = notice === undefined ? [] : [notices.leave(notice, session)];
    return seeOther(to, [...setCookies, ...noticeCookies]);
  };

  /** Shows a page with the message of an `AppError` below status 500. The app handles all other errors. */
  const withProblemPage = async (
    visit: Visit,
    work: () => Promise<Response>,
    renderProblem: (problem: string, status: number) => Awaitable<Markup> = (problem, status) => (
      <Page visit={visit} section={null} title={errorTitle(status)} problem={problem} />
    ),
  ): Promise<Response> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      return pageResponse(await renderProblem(error.message, error.status), {
        status: error.status,
        scripts: true,
      });
    }
  };

  return {
    /**
     * Asks for a proof of identity, such as the password, before a page or form that a stolen session must not reach.
     * @param form the interrupted form; null for a page
     * @param next the page to open after the proof, if it is not the requested one
     * @returns null if the last proof is fresh
     */
    async askForProof(
      visit: Visit,
      form: URLSearchParams | null,
      next?: string,
    ): Promise<Response | null> {
      if (await proof.isFresh(visit)) return null;
      const to = next ?? localPath(visit.url.pathname + visit.url.search, publicUrl) ?? "/";
      if (form !== null) return askForProof(asPerson(visit), { to, form });
      return seeOther(`${PROOF_PATH}?${new URLSearchParams({ next: to })}`);
    },

    /** Answers a `GET` with a page. If `render` throws an `AppError`, the page shows its message. */
    show(
      request: Request,
      render: (visit: Visit) => Awaitable<Markup | Response>,
    ): Promise<Response> {
      return answerWithPage(async () => {
        checkHost(request);
        const { pathname, search } = new URL(request.url);
        const person = await visitors.find(request);
        if (person === null) return askToSignIn(localPath(pathname + search, publicUrl));
        const found = await visitOf(request, person);
        const visit = { ...found, notice: found.notice ?? notices.read(request, person.session) };
        return withProblemPage(visit, async () => {
          const page = await render(visit);
          if (page instanceof Response) return page;
          const cookie = found.notice === null ? notices.clear() : places.choose(null);
          const headers = visit.notice === null ? {} : { "set-cookie": cookie };
          return pageResponse(page, { headers, scripts: true });
        });
      });
    },

    /**
     * Answers the `POST` of a `PostForm`, after checking its token.
     * @param renderProblem renders the form again with the message when `work` throws an `AppError`; by default the
     * message gets a page of its own
     * @param maxBytes the greatest size of the form, if it is not the usual one
     */
    act(
      request: Request,
      work: (visit: Visit, form: URLSearchParams) => Awaitable<FormOutcome>,
      renderProblem?: (visit: Visit, problem: string, form: URLSearchParams) => Awaitable<Markup>,
      maxBytes?: number,
    ): Promise<Response> {
      return answerWithPage(async () => {
        checkHost(request);
        const form = await readForm(request, maxBytes);
        const person = await visitors.find(request);
        if (person === null) return askToSignIn(refererOf(request, publicUrl));
        checkForm(request, { token: form.get(FORM_TOKEN), cookie: person.session, publicUrl });
        const visit = await visitOf(request, person);
        return withProblemPage(visit, async () => {
          if (isOfMemories) checkFormPlace(visit, form);
          return withProblemPage(
            visit,
            async () => toResponse(await work(visit, form), visit),
            renderProblem && ((problem) => renderProblem(visit, problem, form)),
          );
        });
      });
    },

    /**
     * Answers the `POST` of a `PostForm` with files. The files are in memory, so an account can upload only once at a
     * time, until the response has ended.
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
        if (uploading.has(id)) throw stillUploading();
        uploading.add(id);
        let ended = Promise.resolve();
        try {
          const form = await readFiles(request, maxBytes);
          const token = form.get(FORM_TOKEN);
          const formToken = typeof token === "string" ? token : null;
          checkForm(request, { token: formToken, cookie: person.session, publicUrl });
          const visit = await visitOf(request, person);
          return await withProblemPage(visit, async () => {
            if (isOfMemories) checkFormPlace(visit, form);
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

function stillUploading(): AppError {
  const message = "Your last upload is still being read. Try again afterwards.";
  return new AppError("rate_limited", message, { retryAfter: 10 });
}

/** The page of this server that a form was on; null if unknown. */
export function refererOf(request: Request, publicUrl: string): string | null {
  const url = URL.parse(request.headers.get("referer") ?? "");
  return url?.origin === publicUrl ? localPath(url.pathname + url.search, publicUrl) : null;
}
