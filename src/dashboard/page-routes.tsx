/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { Button } from "../pages/button.tsx";
import { PostForm } from "../pages/form.tsx";
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import { type Awaitable, PAGE_ROUTE } from "../pages/page-response.tsx";
import type { FormOutcome, Guard } from "./guard.tsx";
import type { Section } from "./navigation.tsx";
import { Page } from "./page.tsx";
import { requireOwner, type Visit } from "./session.ts";

/** @param id the part of the path that the route names `:id`; empty if it names none */
type Render = (visit: Visit, id: string, server: Server | null) => Awaitable<Markup | Response>;
type Work = (visit: Visit, form: URLSearchParams, id: string) => Awaitable<FormOutcome>;
type RenderProblem = (
  visit: Visit,
  problem: string,
  form: URLSearchParams,
  id: string,
) => Awaitable<Markup>;

/** Returns the response to a person who may not continue yet; null otherwise. `form` is null for a page. */
type Ask = (visit: Visit, form: URLSearchParams | null) => Awaitable<Response | null>;
const askNothing: Ask = () => null;
type Server = Pick<Bun.Server<unknown>, "timeout">;

/** What Elysia passes to a handler. Paths without a parameter have no `params`. */
interface Context {
  request: Request;
  server: Server | null;
  params?: { id?: string };
}

/** What a page asks before its form deletes or revokes something. */
interface Question {
  title: string;
  /** Label of the button that confirms. */
  confirm: string;
  cancel: string;
  /** What will happen, and fields of the form. */
  text: Child;
}

/**
 * Asks for confirmation. It is a page; with scripts, a `ButtonLink` with `asks` opens it as a dialog.
 * @param action the path to which the form is sent
 */
export function ConfirmPage({
  visit,
  section,
  action,
  title,
  confirm,
  cancel,
  text,
}: Question & { visit: Visit; section: Section; action: string }) {
  return (
    <Page visit={visit} section={section} title={title}>
      <div class="panel" data-question={true}>
        <h2 id="question">{title}</h2>
        <PostForm action={action} token={visit.token}>
          {text}
          <div class="actions">
            <Button kind="danger">{confirm}</Button>
            <a class="button plain" href={cancel} data-cancel={true}>
              Cancel
            </a>
          </div>
        </PostForm>
      </div>
    </Page>
  );
}

export type Pages = ReturnType<typeof createPages>;

/**
 * Collects pages behind a guard in `routes`. Their bodies are read by the guard, and the documentation of the API does
 * not list them. A `GET` route is `pages.get(path, (visit) => <MyPage visit={visit} />)`; a `POST` route is
 * `pages.post(path, (visit, form) => ({ to: PATHS.keys, notice: "Done." }))`.
 */
export function createPages(guard: Guard) {
  const routes = new Elysia();

  /** @param allow throws an `AppError` if the person may not use the page */
  const createMethods = (ask: Ask, allow: (visit: Visit) => void = () => {}) => {
    const addPage = (path: string, ask: Ask, render: Render): void => {
      routes.get(
        path,
        ({ request, params, server }: Context) =>
          guard.show(request, async (visit) => {
            allow(visit);
            return (await ask(visit, null)) ?? render(visit, params?.id ?? "", server);
          }),
        PAGE_ROUTE,
      );
    };

    /** The parameters are those of `Guard.act`. */
    const post = (
      path: string,
      work: Work,
      renderProblem?: RenderProblem,
      maxBytes?: number,
    ): void => {
      routes.post(
        path,
        ({ request, params }: Context) =>
          guard.act(
            request,
            async (visit, form) => {
              allow(visit);
              return (await ask(visit, form)) ?? work(visit, form, params?.id ?? "");
            },
            renderProblem &&
              ((visit, problem, form) => {
                allow(visit);
                return renderProblem(visit, problem, form, params?.id ?? "");
              }),
            maxBytes,
          ),
        PAGE_ROUTE,
      );
    };

    return {
      get: (path: string, render: Render): void => addPage(path, ask, render),
      post,

      /** Adds a page that asks for confirmation, and its form. The page itself needs no proof. */
      confirmed(
        path: string,
        section: Section,
        questionOf: (visit: Visit, id: string) => Awaitable<Question>,
        work: Work,
      ): void {
        addPage(path, askNothing, async (visit, id) => {
          const question = await questionOf(visit, id);
          const action = visit.url.pathname;
          return <ConfirmPage visit={visit} section={section} action={action} {...question} />;
        });
        post(path, work);
      },
    };
  };

  return {
    routes,
    ...createMethods(askNothing),
    /** The same for pages and forms that need a fresh proof. */
    proved: createMethods(guard.askForProof),
    /** The same for pages and forms that only the owner of the server may use. */
    owner: createMethods(askNothing, requireOwner),
    /** The same for those that need both. */
    provedOwner: createMethods(guard.askForProof, requireOwner),
  };
}
