/** @jsxRuntime automatic @jsxImportSource #pages */

import type { FoundMemory } from "../../memories/model/found-memory.ts";
import type { Memory } from "../../memories/model/memory.ts";
import type { SearchMode } from "../../memories/ranking/question.ts";
import { SCRIPT, WELCOME } from "../../pages/assets.ts";
import { Button, ButtonLink, Copyable } from "../../pages/button.tsx";
import { Field, TextArea } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import type { Child } from "../../pages/jsx-runtime.ts";
import { Document, Notice, Problem } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { WELCOME_PATH } from "../../sign-in/paths.ts";
import { titleOf } from "../../text/excerpt.ts";
import { HELP_PATH, memoryPath, PATHS } from "../navigation.tsx";
import type { Visit } from "../session.ts";

/** The first steps, in their order. */
export const STEPS = {
  connect: WELCOME_PATH,
  save: `${WELCOME_PATH}/save`,
  ask: `${WELCOME_PATH}/ask`,
} as const;
type Step = keyof typeof STEPS;

const NAMES: readonly (readonly [Step, string])[] = [
  ["connect", "Connect an agent"],
  ["save", "Save a memory"],
  ["ask", "Find it"],
];

/** An agent that has connected, or the last request of another program. */
export interface Arrival {
  readonly isAgent: boolean;
  /** Null if it did not give its name. */
  readonly name: string | null;
  /** The key of a request. */
  readonly by: string | null;
  /** Null if it came before the server's last start. */
  readonly at: Date | null;
}

/** A question and the memories found. */
export interface Asked {
  readonly query: string;
  readonly found: readonly FoundMemory[];
  readonly mode: SearchMode;
}

/** Step 1: connect an agent. The page shows when it has connected. */
export function ConnectStep({
  visit,
  command,
  withHooks,
  isHere,
  arrival,
}: {
  visit: Visit;
  command: string;
  /** The command that also sets up capture and recall. */
  withHooks: string;
  /** Whether the agents run on the server's machine, where they need no key. */
  isHere: boolean;
  /** Null if nothing has come. */
  arrival: Arrival | null;
}) {
  return (
    <StepPage visit={visit} step="connect" title="Connect your first agent">
      <p>
        {isHere
          ? "Run this in a terminal on this machine. It finds your agents, shows what it changes in their settings, and asks first."
          : "Run this on the machine where your agents run. It finds them, shows what it changes in their settings, and asks first. The agents sign in here when they first connect."}
      </p>
      <Copyable text={command} label="the command" />
      <details>
        <summary>With capture and recall</summary>
        <p>
          Agents that can also save what is said, for 90 days, and begin with what is known.{" "}
          <a href={`${HELP_PATH}/capture`}>About both</a>
        </p>
        <Copyable text={withHooks} label="the command with capture and recall" />
      </details>
      <ArrivalStatus arrival={arrival} />
      <div class="actions">
        <ButtonLink href={STEPS.save} kind="main">
          Continue
        </ButtonLink>
        <a href={PATHS.connect}>Connect in another way</a>
      </div>
    </StepPage>
  );
}

function ArrivalStatus({ arrival }: { arrival: Arrival | null }) {
  const name = <bdi>{arrival?.name ?? (arrival?.isAgent ? "An agent" : "a program")}</bdi>;
  if (arrival?.isAgent) {
    return (
      <div class="arrival come spread" data-arrival="come" role="status">
        <p>
          <strong>{name}</strong> is connected
          {arrival.at && (
            <>
              , last seen <Moment at={arrival.at} />
            </>
          )}
          .
        </p>
      </div>
    );
  }
  return (
    <div class="arrival spread" data-arrival={arrival ? "request" : "none"} role="status">
      <div>
        {arrival && (
          <p>
            A request came from {name}
            {arrival.by !== null && (
              <>
                {" "}
                with “<bdi>{arrival.by}</bdi>”
              </>
            )}
            , <Moment at={arrival.at} />. That is no agent yet.
          </p>
        )}
        <p>
          <span class="waiting" aria-hidden="true" /> Waiting for an agent: start a session in
          yours.
        </p>
      </div>
      <a href={STEPS.connect}>Check again</a>
    </div>
  );
}

/** Step 2: save a memory. */
export function SaveStep({
  visit,
  content = "",
  problem,
}: {
  visit: Visit;
  content?: string;
  problem?: string;
}) {
  return (
    <StepPage visit={visit} step="save" title="Save a first memory" problem={problem}>
      <p>
        Enter something that your agents should still know next week. Later they save memories by
        themselves.
      </p>
      <PostForm action={STEPS.save} token={visit.token}>
        <TextArea
          label="Memory"
          name="content"
          value={content}
          rows={4}
          required={true}
          autofocus={true}
          hint="For example: I like short answers, with the code first."
        />
        <div class="actions">
          <Button kind="main">Save</Button>
          <a href={STEPS.ask}>Skip</a>
        </div>
      </PostForm>
    </StepPage>
  );
}

/** Step 3: ask a question. The page shows the memories found with their scores. */
export function AskStep({
  visit,
  saved,
  asked,
  problem,
}: {
  visit: Visit;
  /** The memory of step 2; null if it was skipped. */
  saved: Memory | null;
  asked: Asked | null;
  problem?: string | undefined;
}) {
  return (
    <StepPage visit={visit} step="ask" title="Find it again" problem={problem}>
      <p>Ask as you would ask a person, also in other words than those of the memory.</p>
      {saved !== null && (
        <blockquote class="saved">
          <bdi>{titleOf(saved.content)}</bdi>
        </blockquote>
      )}
      <search>
        <form method="get" action={STEPS.ask}>
          {saved !== null && <input type="hidden" name="saved" value={saved.id} />}
          <Field
            label="Question"
            name="q"
            type="search"
            value={asked?.query ?? ""}
            required={true}
            autofocus={asked === null}
            autocomplete="off"
            maxlength={2000}
          />
          <Button kind={asked === null ? "main" : "plain"}>Ask</Button>
        </form>
      </search>
      {asked !== null && <Answer {...asked} savedId={saved?.id ?? null} />}
      <div class="actions">
        <ButtonLink href={PATHS.overview} kind={asked === null ? "plain" : "main"}>
          Go to the overview
        </ButtonLink>
      </div>
    </StepPage>
  );
}

function Answer({ found, mode, savedId }: Asked & { savedId: string | null }) {
  return (
    <>
      {mode === "keyword" && (
        <Notice>
          The model is still loading. Until then, only memories with the same words are found. Ask
          again in a moment.
        </Notice>
      )}
      {found.length === 0 ? (
        <Notice>Nothing was found. Try words that are closer to the memory.</Notice>
      ) : (
        <ol class="answers" aria-label="Found memories">
          {found.map(({ id, matched, score }) => (
            <li>
              <a href={memoryPath(id)}>
                <bdi>{matched.text}</bdi>
              </a>
              <span class="under">
                {id === savedId && "The memory that you have just saved. "}
                {`Score ${score.toFixed(2)}`}{" "}
                <meter value={score} min={0} max={1} aria-label="Score" />
              </span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

function StepPage({
  visit,
  step,
  title,
  problem,
  children,
}: {
  visit: Visit;
  step: Step;
  title: string;
  problem?: string | undefined;
  children?: Child;
}) {
  return (
    <Document title={title} kind="alone" assets={[SCRIPT, WELCOME]}>
      <main class="welcome">
        <div class="welcome-top spread">
          <p class="brand">ctxd</p>
          <a href={PATHS.overview}>Skip to the overview</a>
        </div>
        <nav aria-label="First steps">
          <ol class="steps">
            {NAMES.map(([name, label]) => (
              <li>
                <a href={STEPS[name]} aria-current={name === step ? "step" : undefined}>
                  {label}
                </a>
              </li>
            ))}
          </ol>
        </nav>
        <h1>{title}</h1>
        {visit.notice !== null && <Notice>{visit.notice}</Notice>}
        {problem !== undefined && <Problem>{problem}</Problem>}
        {children}
      </main>
    </Document>
  );
}
