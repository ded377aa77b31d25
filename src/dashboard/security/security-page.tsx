/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button, ButtonLink } from "../../pages/button.tsx";
import { Field, Select } from "../../pages/field.tsx";
import { EmptyState } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { Table } from "../../pages/table.tsx";
import type { SecurityRecord } from "../../security-log/event-store.ts";
import { EVENTS, type EventOrigin } from "../../security-log/events.ts";
import { browserName } from "../account/account-page.tsx";
import { AccountTabs, AdminTabs, HELP_PATH, PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../session.ts";
import { type SecurityView, securityPath } from "./security-view.ts";

/** The pages of the security log: the whole log for the owner, and the events of one's own account. */
export const SECURITY_PATHS = {
  admin: `${PATHS.admin}/security`,
  account: `${PATHS.account}/security`,
} as const;

/** `admin` for the owner's page of all accounts, `account` for a person's own. */
export type SecurityScope = keyof typeof SECURITY_PATHS;

const ORIGINS: Readonly<Record<EventOrigin, string>> = {
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

interface SecurityProps {
  visit: Visit;
  scope: SecurityScope;
  view: SecurityView;
  events: readonly SecurityRecord[];
  /** The `before` of the next page; null if there are no older events. */
  next: number | null;
  /** Days for which events are kept. */
  days: number;
  /** E-mail addresses of existing accounts, by id. */
  emails: ReadonlyMap<string, string>;
  problem?: string | undefined;
}

/** The events of the security log, newest first, with filters and downloads. */
export function SecurityPage({
  visit,
  scope,
  view,
  events,
  next,
  days,
  emails,
  problem,
}: SecurityProps) {
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
          {scope === "admin" ? "Security events on this server" : "Security events in your account"}
          , kept for {days} days. <a href={`${HELP_PATH}/monitoring`}>What is logged</a>
        </>
      }
      actions={(["csv", "json"] as const).map((format) => (
        <ButtonLink href={securityPath(`${path}/download`, { ...view, before: "" }, { format })}>
          Download {format.toUpperCase()}
        </ButtonLink>
      ))}
      problem={problem}
    >
      <FilterForm scope={scope} view={view} />
      {events.length === 0 ? (
        <EmptyState title={isFiltered ? "No event matches" : "No events yet"}>
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

function FilterForm({ scope, view }: Pick<SecurityProps, "scope" | "view">) {
  const path = SECURITY_PATHS[scope];
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

function EventTable({ scope, events, emails }: Pick<SecurityProps, "scope" | "events" | "emails">) {
  const emailOf = (id: string) => emails.get(id) ?? id;
  return (
    <Table
      caption="Events of the security log"
      rows={events}
      columns={[
        { title: "Event", cell: (event) => <EventText {...event} /> },
        { title: "When", cell: ({ at }) => <Moment at={at} exact={true} /> },
        scope === "admin" && {
          title: "Account",
          cell: ({ accountId, actorId }) => (
            <>
              {accountId === null ? (
                <span class="faint">none</span>
              ) : (
                <bdi>{emailOf(accountId)}</bdi>
              )}
              {actorId !== null && (
                <>
                  {" "}
                  by <bdi>{emailOf(actorId)}</bdi>
                </>
              )}
            </>
          ),
        },
        { title: "From", cell: (event) => <Origin {...event} isOwn={scope === "account"} /> },
      ]}
    />
  );
}

function EventText({ event, subject, amount, times }: SecurityRecord) {
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

/** Where an event came from. For an action of the owner, people see no address. */
function Origin({ via, address, agent, actorId, isOwn }: SecurityRecord & { isOwn: boolean }) {
  if (isOwn && actorId !== null) return <>The owner of this server</>;
  const isBrowser = via === "browser" && agent !== null;
  return (
    <>
      {isBrowser ? browserName(agent) : ORIGINS[via]}
      {address !== null && ` at ${address}`}
    </>
  );
}
