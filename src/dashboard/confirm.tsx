/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button } from "../pages/button.tsx";
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import { PostForm } from "../sign-in/form.tsx";
import type { Section } from "./navigation.tsx";
import { Page } from "./page.tsx";
import type { Visit } from "./visit.ts";

/**
 * Asks once before something is lost for good. A page of its own; a `ButtonLink` to it with `asks`
 * opens it as a dialog where scripts run.
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
  /** Where the form goes when the answer is yes. */
  action: string;
  /** Label of the button that does it. */
  confirm: string;
  /** The page to go back to. */
  cancel: string;
  problem?: string | undefined;
  /** What will be lost, and fields of the form if it needs any. */
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
