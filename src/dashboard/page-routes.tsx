/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import { PAGE_ROUTE } from "../pages/page-response.tsx";
import { ConfirmPage } from "./confirm.tsx";
import type { FormOutcome, Guard } from "./guard.tsx";
import type { Section } from "./navigation.tsx";
import { requireOwner, type Visit } from "./session.ts";

type Awaitable<T> = T | Promise<T>;
/** @param id the part of the path that the route names `:id`; empty if it names none */
type Render = (visit: Visit, id: string) => Awaitable<Markup | Response>;
type Work = (visit: Visit, form: URLSearchParams, id: string) => Awaitable<FormOutcome>;
type RenderProblem = (
  visit: Visit,
  problem: string,
  form: URLSearchParams,
  id: string,
) => Awaitable<Markup>;

/** What Elysia passes to a handler. Paths without a parameter have no `params`. */
interface Context {
  request: Request;
  params?: { id?: string };
}

/** What a page asks before its form acts. */
interface Question {
  title: string;
  /** Label of the button that confirms. */
  confirm: string;
  /** The page to return to. */
  cancel: string;
  /** What will happen, and fields of the form. */
  text: Child;
}

/**
 * Adds pages behind a guard to `routes`. Their bodies are read by the guard, and the documentation of the API does not
 * list them.
 * @param owner whether only the owner of the server may use them
 */
export function createPages(
  guard: Pick<Guard, "show" | "act">,
  { owner = false, routes = new Elysia() }: { owner?: boolean; routes?: Elysia } = {},
) {
  const allow = owner ? requireOwner : () => {};

  const get = (path: string, render: Render): void => {
    routes.get(
      path,
      ({ request, params }: Context) =>
        guard.show(request, (visit) => {
          allow(visit);
          return render(visit, params?.id ?? "");
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
          (visit, form) => {
            allow(visit);
            return work(visit, form, params?.id ?? "");
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

  /** Adds a page that asks for confirmation, and its form. */
  const confirmed = (
    path: string,
    section: Section,
    ask: (visit: Visit, id: string) => Awaitable<Question>,
    work: Work,
  ): void => {
    get(path, async (visit, id) => {
      const { text, ...question } = await ask(visit, id);
      return (
        <ConfirmPage visit={visit} section={section} action={visit.url.pathname} {...question}>
          {text}
        </ConfirmPage>
      );
    });
    post(path, work);
  };

  return { routes, get, post, confirmed };
}
