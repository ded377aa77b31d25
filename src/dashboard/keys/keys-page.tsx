/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import type { KeyRecord } from "../../keys/keys.ts";
import { FULL_ACCESS, type Scope } from "../../keys/scopes.ts";
import { Button, ButtonLink, Copyable } from "../../pages/button.tsx";
import { Field, Select } from "../../pages/field.tsx";
import { Allowed, BoundFields, PostForm } from "../../pages/form.tsx";
import { EmptyState } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { listPage, Pager, Table } from "../../pages/table.tsx";
import { RemoveWrittenLink } from "../agents/agents-page.tsx";
import { PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../session.ts";

const DAY = 24 * 3_600_000;

/** Choices of the form: days until a new key expires, and their labels. */
export const EXPIRY_CHOICES = [
  ["", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const;

/** The default for a key of an agent. */
export const AGENT_EXPIRY = "365";

/**
 * When a new key expires.
 * @param days a whole number; empty for never
 * @param now milliseconds since 1970
 * @throws AppError `validation_failed`
 */
export function expiryOf(days: string | null, now: number): Date | null {
  if (!days) return null;
  if (!/^\d{1,4}$/.test(days)) {
    throw new AppError("validation_failed", "Choose one of the expiry times in the list.");
  }
  return new Date(now + Number(days) * DAY);
}

const SCOPES: readonly (readonly [value: string, label: string, readonly Scope[]])[] = [
  ["write", "Read and write", FULL_ACCESS],
  ["read", "Read only", ["memories:read"]],
  ["add", "Save only", ["memories:add"]],
  ["read add", "Read and save, but not change or delete", ["memories:read", "memories:add"]],
];

/** Choices of the form: the scope of a new key, and their labels. */
const SCOPE_CHOICES = SCOPES.map(([value, label]) => [value, label] as const);

/**
 * The scopes of a new key.
 * @throws AppError `validation_failed`
 */
export function scopesOf(choice: string | null): readonly Scope[] {
  const [, , scopes] = SCOPES.find(([value]) => value === (choice ?? "write")) ?? [];
  if (scopes) return scopes;
  throw new AppError("validation_failed", "Choose one of the scopes in the list.");
}

/** The page of the account's API keys, with the form that creates one. */
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
  /** A key that was just created. It is shown only this once. */
  fresh?: { key: string; name: string } | null;
  problem?: string;
  entered?: URLSearchParams;
}) {
  const isActive = ({ revokedAt, expiresAt }: KeyRecord) =>
    revokedAt === null && (expiresAt === null || expiresAt.getTime() > now);
  // Active keys first, and the newest first of each kind.
  const sorted = [
    ...keys.filter(isActive).reverse(),
    ...keys.filter((key) => !isActive(key)).reverse(),
  ];
  const { items, ...pager } = listPage(sorted, PATHS.keys, visit.url);
  const active = items.filter(isActive);
  const ended = items.filter((key) => !isActive(key));
  return (
    <Page
      visit={visit}
      section="keys"
      title="API keys"
      lead="A key gives a program access to your memories. Create one for each program, so that you can pause or revoke them one by one."
      problem={problem}
    >
      {fresh && (
        <section class="panel" aria-labelledby="fresh">
          <h2 id="fresh">
            Your new key “<bdi>{fresh.name}</bdi>”
          </h2>
          <Copyable text={fresh.key} label="the new key" />
          <p>
            <strong>The key is shown only once.</strong> Store it where only your program can read
            it. If you lose it, regenerate it.
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
              hint="The program or machine that uses the key"
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
          <BoundFields entered={entered} whose="the key" spaces={visit.spaces} />
          <Button kind="main">Create key</Button>
        </PostForm>
      </section>
      {!keys.some(isActive) && (
        <EmptyState title="No key yet">
          <p>Create a key above. It is shown once, for you to copy.</p>
        </EmptyState>
      )}
      {active.length > 0 && <KeyTable caption="Active keys" keys={active} visit={visit} />}
      {ended.length > 0 && (
        <details>
          <summary>{`Revoked and expired keys (${ended.length})`}</summary>
          <KeyTable caption="Revoked and expired keys" keys={ended} visit={visit} isEnded={true} />
        </details>
      )}
      <Pager label="Pages of keys" {...pager} />
    </Page>
  );
}

function KeyTable({
  caption,
  keys,
  visit,
  isEnded = false,
}: {
  caption: string;
  visit: Visit;
  keys: readonly KeyRecord[];
  isEnded?: boolean;
}) {
  return (
    <Table
      caption={caption}
      rows={keys}
      columns={[
        {
          title: "Key",
          cell: ({ name, prefix, createdAt, pausedAt }) => (
            <>
              <bdi>{name}</bdi>
              {pausedAt !== null && [" ", <span class="state">Paused</span>]}
              <span class="under">
                <code>{prefix}…</code>, created <Moment at={createdAt} />
              </span>
            </>
          ),
        },
        { title: "Access", cell: (key) => <Allowed {...key} spaces={visit.spaces} /> },
        { title: "Last used", cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
        { title: "Expires", cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
        isEnded && {
          title: "Revoked",
          cell: ({ revokedAt }) => <Moment at={revokedAt} none="expired" />,
        },
      ]}
      actions={(key) => (
        <div class="actions">
          {!isEnded && (
            <ButtonLink href={`${PATHS.keys}/${key.id}/regenerate`} asks={true}>
              Regenerate<span class="hidden-text"> {key.name}</span>
            </ButtonLink>
          )}
          {!isEnded && (
            <ButtonLink href={`${PATHS.keys}/${key.id}/revoke`} kind="danger" asks={true}>
              Revoke<span class="hidden-text"> {key.name}</span>
            </ButtonLink>
          )}
          <RemoveWrittenLink {...key} />
        </div>
      )}
    />
  );
}
