/** @jsxRuntime automatic @jsxImportSource #pages */
import type { KeyRecord } from "../keys/keys.ts";
import { Button, ButtonLink, Copyable } from "../pages/button.tsx";
import { Field, Select } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { EmptyState } from "../pages/notice.tsx";
import { Pager, Table } from "../pages/table.tsx";
import { Allowed, BoundFields } from "../sign-in/bound-fields.tsx";
import { PostForm } from "../sign-in/form.tsx";
import { ConfirmPage } from "./confirm.tsx";
import { EXPIRY_CHOICES, SCOPE_CHOICES } from "./key-choices.ts";
import { listPage } from "./list-page.ts";
import { PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";
import type { Visit } from "./visit.ts";
import { DeleteWrittenLink } from "./written-routes.tsx";

/** The account's API keys, and the form that makes one. */
export function KeysPage({
  visit,
  keys,
  now,
  fresh = null,
  problem,
  entered,
}: {
  visit: Visit;
  keys: readonly KeyRecord[];
  /** Milliseconds since 1970. */
  now: number;
  /** A key that was just made, to be shown this one time. */
  fresh?: { key: string; name: string } | null;
  problem?: string;
  /** What the form was sent with. */
  entered?: URLSearchParams;
}): Markup {
  const isActive = ({ revokedAt, expiresAt }: KeyRecord) =>
    revokedAt === null && (expiresAt === null || expiresAt.getTime() > now);
  // What works comes first, and of each kind what is new.
  const sorted = [
    ...keys.filter(isActive).reverse(),
    ...keys.filter((key) => !isActive(key)).reverse(),
  ];
  const { items, ...ways } = listPage(sorted, PATHS.keys, visit.url);
  const active = items.filter(isActive);
  const ended = items.filter((key) => !isActive(key));
  return (
    <Page
      visit={visit}
      section="keys"
      title="API keys"
      lead="A program proves with a key that it may use your memories. Give each its own, so that you can revoke one without the others."
      problem={problem}
    >
      {fresh && (
        <section class="panel" aria-labelledby="fresh">
          <h2 id="fresh">
            Your new key “<bdi>{fresh.name}</bdi>”
          </h2>
          <Copyable text={fresh.key} label="the new key" />
          <p>
            <strong>This is the only time that it is shown.</strong> Keep it where your program
            finds it and nobody else does. A lost key can only be regenerated.
          </p>
        </section>
      )}
      <section class="panel" aria-labelledby="create">
        <h2 id="create">Create a key</h2>
        <PostForm action={PATHS.keys} token={visit.token}>
          <div class="row">
            <Field
              label="Name"
              name="name"
              value={entered?.get("name") ?? ""}
              hint="The program or machine that will use it"
              required={true}
              maxlength={100}
              autocomplete="off"
            />
            <Select
              label="Scope"
              name="scope"
              value={entered?.get("scope") ?? "write"}
              options={SCOPE_CHOICES}
            />
            <Select
              label="Expires"
              name="expires"
              value={entered?.get("expires") ?? ""}
              options={EXPIRY_CHOICES}
            />
          </div>
          <BoundFields entered={entered} whose="the key" />
          <Button kind="main">Create key</Button>
        </PostForm>
      </section>
      {!keys.some(isActive) && (
        <EmptyState title="No key yet">
          <p>Create one above: it is shown once, ready to copy.</p>
        </EmptyState>
      )}
      {active.length > 0 && <KeyTable caption="Keys that work" keys={active} />}
      {ended.length > 0 && (
        <details>
          <summary>{`Revoked and expired keys (${ended.length})`}</summary>
          <KeyTable caption="Keys that don't work any more" keys={ended} isEnded={true} />
        </details>
      )}
      <Pager label="Pages of keys" {...ways} />
    </Page>
  );
}

const QUESTIONS = {
  revoke: {
    title: "Revoke this key?",
    confirm: "Revoke the key",
    loss: "stops working at once, for every program that uses it. It can't be brought back. Your memories stay.",
  },
  regenerate: {
    title: "Regenerate this key?",
    confirm: "Regenerate the key",
    loss: "stops working at once, and you get a new key with the same name, scope, project and expiry. Programs that use the old one need the new one.",
  },
} as const;

export type KeyAction = keyof typeof QUESTIONS;

/** Where a key is revoked or regenerated. */
export function keyPath(id: string, action: KeyAction): string {
  return `${PATHS.keys}/${id}/${action}`;
}

/** Asks before a key stops working. */
export function KeyQuestion({
  visit,
  record: { id, name, prefix },
  action,
}: {
  visit: Visit;
  record: KeyRecord;
  action: KeyAction;
}): Markup {
  const { title, confirm, loss } = QUESTIONS[action];
  return (
    <ConfirmPage
      visit={visit}
      section="keys"
      title={title}
      action={keyPath(id, action)}
      confirm={confirm}
      cancel={PATHS.keys}
    >
      <p>
        <strong>
          <bdi>{name}</bdi>
        </strong>{" "}
        (<code>{prefix}…</code>) {loss}
      </p>
    </ConfirmPage>
  );
}

function KeyTable({
  caption,
  keys,
  isEnded = false,
}: {
  caption: string;
  keys: readonly KeyRecord[];
  isEnded?: boolean;
}): Markup {
  return (
    <Table
      caption={caption}
      rows={keys}
      columns={[
        {
          title: "Key",
          isHeader: true,
          cell: ({ name, prefix, createdAt }) => (
            <>
              <bdi>{name}</bdi>
              <span class="under">
                <code>{prefix}…</code>, made <Moment at={createdAt} />
              </span>
            </>
          ),
        },
        { title: "May", cell: ({ scopes, bound }) => <Allowed scopes={scopes} bound={bound} /> },
        { title: "Last used", cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
        { title: "Expires", cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
        ...(isEnded
          ? [
              {
                title: "Revoked",
                cell: ({ revokedAt }: KeyRecord) => <Moment at={revokedAt} none="expired" />,
              },
            ]
          : []),
        {
          title: "Actions",
          isActions: true,
          cell: (key) => (
            <div class="actions">
              {!isEnded && (
                <ButtonLink href={keyPath(key.id, "regenerate")} asks={true}>
                  Regenerate<span class="hidden-text"> {key.name}</span>
                </ButtonLink>
              )}
              {!isEnded && (
                <ButtonLink href={keyPath(key.id, "revoke")} kind="danger" asks={true}>
                  Revoke<span class="hidden-text"> {key.name}</span>
                </ButtonLink>
              )}
              <DeleteWrittenLink section="keys" id={key.id} name={key.name} />
            </div>
          ),
        },
      ]}
    />
  );
}
