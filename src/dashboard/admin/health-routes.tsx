/** @jsxRuntime automatic @jsxImportSource #pages */

import { version } from "../../../package.json" with { type: "json" };
import { type CheckResult, runChecks } from "../../http/health.ts";
import { Table } from "../../pages/table.tsx";
import { sizeText } from "../../text/number-text.ts";
import { AdminTabs, HEALTH_PATH, HELP_PATH } from "../navigation.tsx";
import { Fact, Page, Setting, TimeFact } from "../page.tsx";
import type { Parts } from "../parts.ts";
import type { ServerFacts } from "../server-status.ts";
import type { Visit } from "../session.ts";

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

/** The owner's page of the server's health. */
export function addHealthPage({ config, pages, checks, serverStatus }: Parts): void {
  pages.owner.get(HEALTH_PATH, async (visit) => {
    const results = await runChecks(checks);
    const facts = serverStatus?.server() ?? null;
    return <HealthPage visit={visit} results={results} facts={facts} address={config.publicUrl} />;
  });
}
