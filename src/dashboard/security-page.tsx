/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button, ButtonLink } from "../pages/button.tsx";
import { Field, Select } from "../pages/field.tsx";
import { Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { EmptyState } from "../pages/notice.tsx";
import { Table } from "../pages/table.tsx";
import type { SecurityRecord } from "../security-log/event-store.ts";
import { EVENTS, type Way } from "../security-log/events.ts";
import { browserName } from "./browser-name.ts";
import { HELP_PATH, PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";
import { type SecurityView, securityPath } from "./security-view.ts";
import { AccountTabs, AdminTabs } from "./tabs.tsx";
import type { Visit } from "./visit.ts";

/** The pages of the log: all of it for the owner, and everybody's own part. */
export const SECURITY_PATHS = {
  admin: `${PATHS.admin}/security`,
  account: `${PATHS.account}/security`,
} as const;

const WAYS: Readonly<Record<Way, string>> = {
  browser: "Browser",
  api: "API",
  local: "This machine",
  command: "Command line",
  server: "Server",
};

const KINDS = [
  ["", "Any"],
  ...Object.entries(EVENTS).map(([name, { label }]) => [name, label] as const),
] as const;

/** What has happened, the newest first, with filters and ways to take it along. */
export function SecurityPage({
  visit,
  scope,
  view,
  events,
  next,
  days,
  emails,
  problem,
}: {
  visit: Visit;
  /** Whether it is the owner's page of all, or the person's own. */
  scope: "admin" | "account";
  view: SecurityView;
  events: readonly SecurityRecord[];
  /** The id after which there are older ones; null at the end. */
  next: number | null;
  /** For how long events are kept. */
  days: number;
  /** The addresses of the accounts that there are, by their ids. */
  emails: ReadonlyMap<string, string>;
  problem?: string | undefined;
}): Markup {
  const path = SECURITY_PATHS[scope];
  const isFiltered = Object.values(view).some((value) => value !== "");
  return (
    <Page
      visit={visit}
      section={scope}
      title="Security log"
      above={scope === "admin" ? <AdminTabs current={path} /> : <AccountTabs current={path} />}
      lead={
        <>
          {scope === "admin"
            ? "What has happened on this server"
            : "What has happened in your account"}
          , for {days} days. <a href={`${HELP_PATH}/watch`}>What it tells</a>
        </>
      }
      actions={(["csv", "json"] as const).map((format) => (
        <ButtonLink href={securityPath(`${path}/download`, { ...view, before: "" }, { format })}>
          Download {format.toUpperCase()}
        </ButtonLink>
      ))}
      problem={problem}
    >
      <FilterForm path={path} scope={scope} view={view} />
      {events.length === 0 ? (
        <EmptyState title={isFiltered ? "Nothing fits" : "Nothing has happened yet"}>
          <p>
            <a href={path}>Show all events</a>
          </p>
        </EmptyState>
      ) : (
        <EventTable scope={scope} events={events} emails={emails} />
      )}
      <div class="actions">
        {view.before !== "" && (
          <ButtonLink href={securityPath(path, { ...view, before: "" })}>
            Back to the newest
          </ButtonLink>
        )}
        {next !== null && (
          <ButtonLink href={securityPath(path, { ...view, before: `${next}` })}>Older</ButtonLink>
        )}
      </div>
    </Page>
  );
}

function FilterForm({
  path,
  scope,
  view,
}: {
  path: string;
  scope: "admin" | "account";
  view: SecurityView;
}): Markup {
  const { before: _, ...filters } = view;
  const isOpen = Object.values(filters).some((value) => value !== "");
  return (
    <search>
      <details class="filters" open={isOpen}>
        <summary>Filter</summary>
        <form method="get" action={path}>
          <div class="row">
            <Select label="Event" name="event" value={view.event} options={KINDS} />
            {scope === "admin" && (
              <Field
                label="Account"
                name="account"
                value={view.account}
                hint="E-mail address or id"
                autocomplete="off"
              />
            )}
            <Field label="IP address" name="address" value={view.address} autocomplete="off" />
          </div>
          <div class="row">
            <Field label="From" name="from" type="date" value={view.from} hint="Days in UTC" />
            <Field label="To" name="to" type="date" value={view.to} hint="Days in UTC" />
          </div>
          <div class="actions">
            <Button kind="main">Show</Button>
            <a href={path}>Show all events</a>
          </div>
        </form>
      </details>
    </search>
  );
}

function EventTable({
  scope,
  events,
  emails,
}: {
  scope: "admin" | "account";
  events: readonly SecurityRecord[];
  emails: ReadonlyMap<string, string>;
}): Markup {
  const nameOf = (id: string) => emails.get(id) ?? id;
  return (
    <Table
      caption="Events of the security log"
      rows={events}
      columns={[
        { title: "Event", isHeader: true, cell: (event) => <What event={event} /> },
        { title: "When", cell: ({ at }) => <Moment at={at} exact={true} /> },
        ...(scope === "admin"
          ? [
              {
                title: "Account",
                cell: ({ accountId, actorId }: SecurityRecord) => (
                  <>
                    {accountId === null ? (
                      <span class="faint">none</span>
                    ) : (
                      <bdi>{nameOf(accountId)}</bdi>
                    )}
                    {actorId !== null && (
                      <>
                        {" "}
                        by <bdi>{nameOf(actorId)}</bdi>
                      </>
                    )}
                  </>
                ),
              },
            ]
          : []),
        { title: "From", cell: (event) => <Where event={event} isOwn={scope === "account"} /> },
      ]}
    />
  );
}

function What({ event: { event, subject, amount, times } }: { event: SecurityRecord }): Markup {
  return (
    <>
      {EVENTS[event]?.label ?? event}
      {subject !== null && (
        <>
          : <bdi>{subject}</bdi>
        </>
      )}
      {amount !== null && ` (${amount.toLocaleString("en")})`}
      {times > 1 && (
        <>
          {" "}
          <span class="badge">{`${times.toLocaleString("en")} times`}</span>
        </>
      )}
    </>
  );
}

/** What another has done in one's account says so, and not from where. */
function Where({
  event: { via, address, agent, actorId },
  isOwn,
}: {
  event: SecurityRecord;
  isOwn: boolean;
}): Markup {
  if (isOwn && actorId !== null) return <>The owner of this server</>;
  const isBrowser = via === "browser" && agent !== null;
  return (
    <>
      {isBrowser ? browserName(agent) : WAYS[via]}
      {address === null ? Fragment({}) : ` at ${address}`}
    </>
  );
}
