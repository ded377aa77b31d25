/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button } from "../pages/button.tsx";
import { PostForm } from "../pages/form.tsx";
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import type { Section } from "./navigation.tsx";
import { Page } from "./page.tsx";
import type { Visit } from "./session.ts";

/**
 * Asks for confirmation before something is deleted or revoked. It is a page; with scripts, a `ButtonLink` with
 * `asks` opens it as a dialog.
 */
export function ConfirmPage({
  visit,
  section,
  title,
  action,
  confirm,
  cancel,
  problem,
  children,
}: {
  visit: Visit;
  section: Section;
  /** The question. */
  title: string;
  /** The path to which the form is sent. */
  action: string;
  /** Label of the button that confirms. */
  confirm: string;
  /** The page to return to. */
  cancel: string;
  problem?: string | undefined;
  /** What will happen, and fields of the form. */
  children?: Child;
}): Markup {
  return (
    <Page visit={visit} section={section} title={title} problem={problem}>
      <div class="panel" data-question={true}>
        <h2 id="question">{title}</h2>
        <PostForm action={action} token={visit.token}>
          {children}
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
