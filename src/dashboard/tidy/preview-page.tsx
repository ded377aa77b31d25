/** @jsxRuntime automatic @jsxImportSource #pages */
import {
  ALLOWED_ACTIONS,
  MAX_TIDIED,
  type TidyGroup,
  type TidyKind,
  type TidyOutcome,
} from "../../memories/rules/tidy/report.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { PostForm } from "../../pages/form.tsx";
import { EmptyState } from "../../pages/layout.tsx";
import { titleOf } from "../../text/excerpt.ts";
import { outcomeText } from "../../tidy/outcome-text.ts";
import { MEMORY_PATHS, tidyPath } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../session.ts";
import { actionLabel, KIND_LABELS } from "./tidy-page.tsx";

/** The groups of a kind that a bulk change may take: those whose proposal is the usual one. */
export function usualGroups(groups: readonly TidyGroup[], kind: TidyKind): TidyGroup[] {
  return groups.filter(({ proposal }) => proposal.action === ALLOWED_ACTIONS[kind][0]);
}

/** Shows all groups of a kind, lets the person leave some out, and does the same with the others. */
export function PreviewPage({
  visit,
  kind,
  groups,
  total,
  outcome,
}: {
  visit: Visit;
  kind: TidyKind;
  /** At most `MAX_TIDIED`. */
  groups: readonly TidyGroup[];
  /** The number of groups of the kind. */
  total: number;
  /** What the proposals for all of them would do. */
  outcome: TidyOutcome;
}) {
  const back = tidyPath(kind);
  return (
    <Page visit={visit} section="memories" title={`Tidy: ${KIND_LABELS[kind]}`}>
      {groups.length === 0 ? (
        <EmptyState
          title={kind === "small_projects" ? "No other project is near" : "Nothing to tidy"}
        >
          <a href={MEMORY_PATHS.tidy}>Back</a>
        </EmptyState>
      ) : (
        <PostForm action={MEMORY_PATHS.tidy} token={visit.token}>
          <input type="hidden" name="view" value={back} />
          <p>
            <strong>{actionLabel(ALLOWED_ACTIONS[kind][0] ?? "delete", kind)}</strong>
            {`: ${outcomeText(outcome) || "nothing changes, since they expire anyway"}.`}
          </p>
          {total > MAX_TIDIED && (
            <p class="hint">{`These are the first ${MAX_TIDIED} of ${total.toLocaleString("en")}. The others come afterwards.`}</p>
          )}
          <ul class="panel tidy-preview">
            {groups.map(({ id, memories: [first, ...others], proposal }) => (
              <li>
                <label class="choice">
                  <input type="checkbox" name="group" value={id} checked={true} />
                  <span>
                    <bdi>{titleOf(first?.content ?? "")}</bdi>
                    {others.length > 0 && (
                      <span class="faint">
                        {" ← "}
                        <bdi>{titleOf(others[0]?.content ?? "")}</bdi>
                        {others.length > 1 && ` and ${others.length - 1} more`}
                      </span>
                    )}
                    {proposal.project !== undefined && (
                      <span class="faint">
                        {" → "}
                        <bdi>{titleOf(proposal.project)}</bdi>
                      </span>
                    )}
                  </span>
                </label>
              </li>
            ))}
          </ul>
          <div class="actions">
            {ALLOWED_ACTIONS[kind].map((action, place) => (
              <Button
                kind={action === "delete" ? "danger" : place === 0 ? "main" : "plain"}
                name="action"
                value={action}
              >
                {`${actionLabel(action, kind)}`}
              </Button>
            ))}
            <ButtonLink href={back}>Cancel</ButtonLink>
          </div>
        </PostForm>
      )}
    </Page>
  );
}
