/** @jsxRuntime automatic @jsxImportSource #pages */

import { version } from "../../../package.json" with { type: "json" };
import { type CheckResult, runChecks } from "../../http/health.ts";
import { Table } from "../../pages/table.tsx";
import { sizeText } from "../../text/number-text.ts";
import { AdminTabs, BACKUPS_PATH, HEALTH_PATH, HELP_PATH } from "../navigation.tsx";
import { Fact, Page, Setting, TimeFact } from "../page.tsx";
import type { Parts } from "../parts.ts";
import type { ServerFacts } from "../server-status.ts";
import type { Visit } from "../session.ts";
import { BackupsPage } from "./backups-page.tsx";

/** What each check covers. */
const ABOUT: Readonly<Record<string, string>> = {
  database: "Accounts, keys and the newest writes",
  objects: "The object store shared by all servers",
  memories: "The files of memories exist and can be read",
  disk: "Files can be written and the disk has space",
  embedding: "The embedding model is loaded",
  backups: "The newest backup is as recent as the schedule requires",
  vectors: "All vectors are those of the chosen model",
  upkeep: "Writes and deletions reach the files in time",
};

/** The page of the server's health: its checks, and facts about the running program. */
function HealthPage({
  visit,
  results,
  facts,
  address,
}: {
  visit: Visit;
  results: Readonly<Record<string, CheckResult>>;
  facts: ServerFacts | null;
  address: string;
}) {
  const states = Object.values(results);
  const isWell = states.every((state) => state === "ok");
  return (
    <Page
      visit={visit}
      section="admin"
      title="Health"
      above={<AdminTabs current={HEALTH_PATH} />}
      actions={
        <span class={stateClass(states)}>
          {isWell ? "Healthy" : states.includes("failed") ? "Failed" : "Busy"}
        </span>
      }
    >
      <Table
        caption="Checks"
        rows={Object.entries(results)}
        columns={[
          {
            title: "Part",
            cell: ([name]) => (
              <>
                {name.charAt(0).toUpperCase() + name.slice(1)}
                <span class="under">{ABOUT[name]}</span>
              </>
            ),
          },
          {
            title: "State",
            cell: ([, result]) =>
              result === "ok" ? "ok" : <span class={stateClass([result])}>{result}</span>,
          },
        ]}
      />
      <Setting
        id="server"
        title="Server"
        about={
          <>
            <code>ctxd doctor</code> checks more and says how to fix what it finds.{" "}
            <a href={`${HELP_PATH}/monitoring`}>Metrics and logs</a>
          </>
        }
      >
        <dl>
          <Fact name="Version">{version}</Fact>
          <Fact name="Address">{address}</Fact>
          {facts !== null && <Facts {...facts} />}
        </dl>
      </Setting>
    </Page>
  );
}

function Facts(facts: ServerFacts) {
  const { startedAt, platform, dataDir, database, model, memory, disk, lag } = facts;
  return (
    <>
      <TimeFact name="Started" at={startedAt} />
      <Fact name="Platform">{platform}</Fact>
      <Fact name="Database">{database}</Fact>
      <Fact name="Model">{model}</Fact>
      <Fact name="Data folder">
        <code>{dataDir}</code>
      </Fact>
      {disk !== null && (
        <>
          <dt>Disk</dt>
          <dd class="use-wide">
            {sizeText(disk.free)} free of {sizeText(disk.total)}
            <meter
              value={disk.total - disk.free}
              min={0}
              max={Math.max(1, disk.total)}
              aria-label="Disk in use"
            />
          </dd>
        </>
      )}
      <Fact name="Memory">{sizeText(memory)}</Fact>
      <Fact name="Upkeep">
        {lag < 1 ? "nothing pending" : `oldest change pending for ${Math.round(lag)} s`}
      </Fact>
    </>
  );
}

function stateClass(states: readonly CheckResult[]): string {
  if (states.includes("failed")) return "state failed";
  return states.every((state) => state === "ok") ? "state well" : "state";
}

/** Backups and restores shown from the security log. */
const MAX_EVENTS = 10;

/** The owner's pages of health and backups. */
export function addServerPages({ config, pages, checks, serverStatus, securityLog }: Parts): void {
  const listEvents = async () => {
    const [made, restored] = await Promise.all(
      (["backup_created", "backup_restored"] as const).map((event) =>
        securityLog.list(null, { event }, { limit: MAX_EVENTS, before: null }),
      ),
    );
    const newestFirst = [...(made ?? []), ...(restored ?? [])].sort((a, b) => b.id - a.id);
    return newestFirst.slice(0, MAX_EVENTS);
  };

  pages.owner.get(HEALTH_PATH, async (visit) => {
    const results = await runChecks(checks);
    const facts = serverStatus?.server() ?? null;
    return <HealthPage visit={visit} results={results} facts={facts} address={config.publicUrl} />;
  });
  pages.owner.get(BACKUPS_PATH, async (visit) => {
    const facts = (await serverStatus?.backups()) ?? null;
    return (
      <BackupsPage
        visit={visit}
        facts={facts}
        events={await listEvents()}
        program={serverStatus?.program ?? "ctxd"}
        backup={serverStatus?.command("backup FOLDER") ?? "ctxd backup FOLDER"}
      />
    );
  });
}
