/** @jsxRuntime automatic @jsxImportSource #pages */
import { unknownSpace } from "../../accounts/space.ts";
import type { Member } from "../../accounts/space-members.ts";
import type { Spaces } from "../../accounts/spaces.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { PostForm } from "../../pages/form.tsx";
import { EmptyState } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { listPage, Pager, Table } from "../../pages/table.tsx";
import { spaceFacts } from "../../spaces/route-parts.ts";
import { memoryCount, peopleCount, sizeText } from "../../text/number-text.ts";
import { ADMIN_SPACES_PATH, AdminTabs } from "../navigation.tsx";
import { Page, Setting } from "../page.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { ROLE_LABELS } from "../spaces/spaces-page.tsx";
import { QuotaForm } from "./member-routes.tsx";
import { type AccountUsage, QuotaUse, quotaOf, quotaText, readUsage } from "./quota-routes.tsx";

/** A space as the owner of the server sees it. Its memories are only its members' to read. */
type Listed = Awaited<ReturnType<Spaces["list"]>>[number];

const pathOf = (id: string) => `${ADMIN_SPACES_PATH}/${id}`;

/** The owner's pages of spaces: their members and quotas, and the forms that close and remove one. */
export function addAdminSpaces(parts: Parts): void {
  const { spaces, memories, quotas, record } = parts;
  const pages = parts.pages.owner;

  /** @throws AppError `not_found` */
  const find = async (id: string): Promise<Listed> => {
    const space = (await spaces.list()).find((each) => each.id === id);
    if (space) return space;
    throw unknownSpace();
  };

  pages.get(ADMIN_SPACES_PATH, async (visit) => {
    const { items, ...pager } = listPage(await spaces.list(), ADMIN_SPACES_PATH, visit.url);
    const rows = await Promise.all(
      items.map(async (space) => ({ ...space, ...(await readUsage(space.id, parts)) })),
    );
    return <AdminSpacesPage visit={visit} rows={rows} pager={pager} />;
  });
  pages.get(`${ADMIN_SPACES_PATH}/:id`, async (visit, id) => {
    const space = { ...(await find(id)), ...(await readUsage(id, parts)) };
    return <AdminSpacePage visit={visit} space={space} members={await spaces.members(id)} />;
  });
  pages.post(`${ADMIN_SPACES_PATH}/:id/quota`, async ({ account, request }, form, id) => {
    const { name } = await find(id);
    await quotas.set(id, quotaOf(form));
    record(request, "quota_changed", { accountId: id, actorId: account.id });
    const notice = `“${name}” may store ${quotaText(await quotas.of(id))}.`;
    return { to: pathOf(id), notice };
  });
  pages.post(`${ADMIN_SPACES_PATH}/:id/state`, async ({ account, request }, form, id) => {
    const space = await find(id);
    const isClosed = form.get("state") === "closed";
    await spaces.setDisabled(id, isClosed);
    record(request, "space_changed", { accountId: account.id, ...spaceFacts(space) });
    const notice = `“${space.name}” is ${isClosed ? "closed" : "open"}.`;
    return { to: pathOf(id), notice };
  });
  pages.confirmed(
    `${ADMIN_SPACES_PATH}/:id/remove`,
    "admin",
    async (_, id) => {
      const { name, members } = await find(id);
      const usage = await memories.usage(id);
      return {
        title: "Remove this space?",
        confirm: "Remove the space permanently",
        cancel: pathOf(id),
        text: (
          <p>
            This permanently removes <bdi>{name}</bdi>{" "}
            {`with ${memoryCount(usage.memories)}, for ${peopleCount(members)}. You can't undo this. Existing backups still contain the space.`}
          </p>
        ),
      };
    },
    async ({ account, request }, _, id) => {
      const space = await find(id);
      await spaces.remove(null, id);
      record(request, "space_deleted", { accountId: account.id, ...spaceFacts(space) });
      return { to: ADMIN_SPACES_PATH, notice: `The space “${space.name}” is removed.` };
    },
  );
}

function AdminSpacesPage({
  visit,
  rows,
  pager,
}: {
  visit: Visit;
  rows: readonly (Listed & AccountUsage)[];
  pager: { previous: string | null; next: string | null };
}) {
  return (
    <Page
      visit={visit}
      section="admin"
      title="Spaces"
      above={<AdminTabs current={ADMIN_SPACES_PATH} />}
      lead="Memories that several people of this server share. Only members can read them."
    >
      {rows.length === 0 ? (
        <EmptyState title="No spaces">
          <p>Everybody with an account can make one.</p>
        </EmptyState>
      ) : (
        <Table
          caption="Spaces on this server"
          rows={rows}
          columns={[
            {
              title: "Space",
              cell: ({ id, name, disabledAt }) => (
                <>
                  <a href={pathOf(id)}>
                    <bdi>{name}</bdi>
                  </a>
                  {disabledAt !== null && [" ", <span class="badge">closed</span>]}
                </>
              ),
            },
            { title: "Members", isNumber: true, cell: ({ members }) => members },
            { title: "Stores", isNumber: true, cell: (row) => <QuotaUse {...row} /> },
            { title: "On disk", isNumber: true, cell: ({ bytes }) => sizeText(bytes) },
          ]}
        />
      )}
      <Pager label="Pages of spaces" {...pager} />
    </Page>
  );
}

function AdminSpacePage({
  visit,
  space,
  members,
}: {
  visit: Visit;
  space: Listed & AccountUsage;
  members: readonly Member[];
}) {
  const { id, name, disabledAt, quota } = space;
  const { items, ...pager } = listPage(members, pathOf(id), visit.url);
  return (
    <Page
      visit={visit}
      section="admin"
      title={name}
      above={<AdminTabs current={ADMIN_SPACES_PATH} />}
    >
      <Table
        caption="Members"
        rows={items}
        columns={[
          { title: "Member", cell: ({ email }) => <bdi>{email}</bdi> },
          { title: "Role", cell: ({ role }) => ROLE_LABELS[role] },
          { title: "Since", cell: ({ joinedAt }) => <Moment at={joinedAt} /> },
        ]}
      />
      <Pager label="Pages of members" {...pager} />
      <Setting
        id="quota"
        title="Quota"
        about="How much the space may store. It applies to new writes and deletes nothing."
      >
        <p>
          <QuotaUse {...space} />
        </p>
        <QuotaForm action={`${pathOf(id)}/quota`} token={visit.token} quota={quota} />
      </Setting>
      <Setting
        id="state"
        title={disabledAt === null ? "Close" : "Open again"}
        about="Until a closed space is opened again, nobody reads or writes its memories."
      >
        <PostForm action={`${pathOf(id)}/state`} token={visit.token}>
          {disabledAt === null ? (
            <Button kind="danger" name="state" value="closed">
              Close the space
            </Button>
          ) : (
            <Button kind="main" name="state" value="open">
              Open the space
            </Button>
          )}
        </PostForm>
      </Setting>
      <Setting id="remove" title="Remove" about="Permanently removes the space with its memories.">
        <ButtonLink href={`${pathOf(id)}/remove`} kind="danger" asks={true}>
          Remove the space
        </ButtonLink>
      </Setting>
    </Page>
  );
}
