/** @jsxRuntime automatic @jsxImportSource #pages */

import type { Filter } from "../../memories/model/filter.ts";
import type { Memory } from "../../memories/model/memory.ts";
import type { Stats } from "../../memories/rules/stats.ts";
import { LIVE } from "../../pages/assets.ts";
import { ButtonLink } from "../../pages/button.tsx";
import type { Child } from "../../pages/jsx-runtime.ts";
import { EmptyState } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { WELCOME_PATH } from "../../sign-in/paths.ts";
import { excerptOf } from "../../text/excerpt.ts";
import { sizeText } from "../../text/number-text.ts";
import { viewPath } from "../memories/memories-view.ts";
import {
  HEALTH_PATH,
  HELP_PATH,
  MEMORY_PATHS,
  memoryPath,
  PATHS,
  projectPath,
} from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Parts } from "../parts.ts";
import { mayChange, type Visit } from "../session.ts";
import { Attention, concernsOf, likeMemories } from "./attention.tsx";
import { GrowthChart, growthOf, SPANS } from "./growth-chart.tsx";

const BANDS = [
  { label: "Over 75 %", from: 0.75 },
  { label: "50 to 75 %", from: 0.5 },
  { label: "25 to 50 %", from: 0.25 },
  { label: "Under 25 %", from: 0 },
];

/** The number of memories whose retention is in each range. */
export function retentionBands({ fading }: Pick<Stats, "fading">) {
  const counts = BANDS.map(({ label }) => ({ label, memories: 0 }));
  for (const { retention, memories } of fading) {
    const band = counts[BANDS.findIndex(({ from }) => retention >= from)];
    if (band) band.memories += memories;
  }
  return counts;
}

/** Groups shown in each panel. */
const MAX_GROUPS = 8;

/** The newest memories shown. Captured turns would hide the saved ones. */
const NEWEST: Filter = { isCaptured: false, isCurrent: true };
const MAX_NEWEST = 5;
/** Characters of each; the page shows as many as fit into a line. */
const EXCERPT = 160;

interface Event {
  memory: Memory;
  at: Date;
}

/** The first page: the numbers of an account at a glance. */
function OverviewPage({ visit, ...figures }: { visit: Visit } & Figures) {
  const { stats, position } = figures;
  return (
    <Page
      visit={visit}
      section="overview"
      title="Overview"
      assets={[LIVE]}
      {...(stats.memories > 0 && {
        actions: [
          <ButtonLink href={PATHS.activity}>Activity</ButtonLink>,
          <ButtonLink href={PATHS.map}>Map</ButtonLink>,
        ],
      })}
    >
      {stats.memories === 0 ? (
        <div id="figures" data-live="memories" data-live-at={position} data-live-empty={true}>
          <EmptyState title="No memories yet">
            <p>Connect an agent. It saves what it learns and finds it again when it matters.</p>
            <div class="actions">
              <ButtonLink href={WELCOME_PATH} kind="main">
                Take the first steps
              </ButtonLink>
              {mayChange(visit) && <ButtonLink href={MEMORY_PATHS.new}>Add a memory</ButtonLink>}
            </div>
          </EmptyState>
        </div>
      ) : (
        <FigurePanels {...figures} />
      )}
    </Page>
  );
}

function FigurePanels({
  position,
  stats,
  growth,
  span,
  newest,
  lastSearch,
  concerns,
  isOwner,
}: Figures) {
  return (
    <>
      <Attention concerns={concerns} />
      <div id="figures" data-live="memories" data-live-at={position}>
        <div class="columns tiles">
          <Tile label="Memories">
            <a class="figure" href={PATHS.memories}>
              {stats.memories.toLocaleString("en")}
            </a>
          </Tile>
          <Tile label="On disk">
            <a class="figure" href={isOwner ? HEALTH_PATH : MEMORY_PATHS.exportOffer}>
              {sizeText(stats.bytes ?? 0)}
            </a>
          </Tile>
          {lastSearch && (
            <Tile label="Last found by a search">
              <LastEvent {...lastSearch} />
            </Tile>
          )}
        </div>
        <section class="panel" aria-labelledby="newest">
          <h2 id="newest">Newest</h2>
          <ul class="newest">
            {newest.map(({ id, content, created_at }) => (
              <li>
                <a class="memory-text one-line" href={memoryPath(id)}>
                  <bdi>{excerptOf(content, EXCERPT)}</bdi>
                </a>
                <span class="faint">
                  <Moment at={new Date(created_at)} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      </div>
      <GrowthChart growth={growth} span={span} />
      <div class="columns wide">
        <div class="stack">
          <Groups
            title="By tag"
            none="No memory has a tag."
            groups={stats.tags.map(({ tag, memories }) => ({
              label: <bdi>{tag}</bdi>,
              href: viewPath({ tags: tag }),
              memories,
            }))}
          />
          <Groups
            title="By agent"
            none="No memory has an agent."
            groups={stats.agents.map(({ agent_id, memories }) => ({
              label: agent_id === null ? "no agent" : <bdi>{agent_id}</bdi>,
              href: agent_id === null ? null : viewPath({ agent_id }),
              memories,
            }))}
          />
        </div>
        <div class="stack">
          <Groups
            title="By project"
            none="No memory has a project."
            groups={stats.projects.map(({ project, memories }) => ({
              label: project === null ? "no project" : <bdi>{project}</bdi>,
              href: project === null ? viewPath({ unfiled: "1" }) : projectPath(project),
              memories,
            }))}
          />
          <Groups title="By retention" none="" groups={retentionBands(stats)}>
            <p class="hint">
              Memories fade with age, important ones more slowly. Faded memories rank lower in
              searches but are never lost.{" "}
              <a href={`${HELP_PATH}/search`}>How memories are found</a>
            </p>
          </Groups>
        </div>
      </div>
    </>
  );
}

function Tile({ label, children }: { label: string; children?: Child }) {
  return (
    <section class="panel tile">
      <h2>{label}</h2>
      {children}
    </section>
  );
}

function LastEvent({ event }: { event: Event | null }) {
  if (event === null) return <span class="faint">nothing yet</span>;
  const { memory, at } = event;
  return (
    <>
      <a class="memory-text" href={memoryPath(memory.id)}>
        <bdi>{excerptOf(memory.content, EXCERPT)}</bdi>
      </a>
      <span class="faint">
        <Moment at={at} />
      </span>
    </>
  );
}

interface Group {
  label: Child;
  /** The list of the group's memories, if there is a filter for it. */
  href?: string | null;
  memories: number;
}

function Groups({
  title,
  none,
  groups,
  children,
}: {
  title: string;
  none: string;
  groups: readonly Group[];
  children?: Child;
}) {
  const most = Math.max(1, ...groups.map(({ memories }) => memories));
  return (
    <section class="panel">
      <h2>{title}</h2>
      {groups.length === 0 && <p class="faint">{none}</p>}
      <ul class="groups">
        {groups.slice(0, MAX_GROUPS).map(({ label, href, memories }) => (
          <li>
            <span class="one-line">{href ? <a href={href}>{label}</a> : label}</span>
            <meter value={memories} min={0} max={most} aria-hidden="true" />
            <span class="number">{memories.toLocaleString("en")}</span>
          </li>
        ))}
      </ul>
      {groups.length > MAX_GROUPS && (
        <p class="faint">{`and ${groups.length - MAX_GROUPS} more`}</p>
      )}
      {children}
    </section>
  );
}

type Figures = Awaited<ReturnType<typeof readFigures>>;

async function readFigures(parts: Parts, visit: Visit) {
  const { activity, memories, live, clock } = parts;
  const { account, reach, url, request, place } = visit;
  // While the page is open, its script requests only the figures.
  const isPart = request.headers.has("ctxd-part");
  const isShared = place?.space != null;
  const lastFound = async (): Promise<Event | null> => {
    const found = await activity.lastFound(reach.accountId);
    const memory = found && (await memories.find(reach, found.memoryId));
    return memory ? { memory, at: found.at } : null;
  };

  // The page follows changes from this position on.
  const position = await live.positionOf("memories", reach.accountId);
  const [stats, { memories: newest }, found, concerns] = await Promise.all([
    memories.stats(reach),
    memories.list(reach, { filter: NEWEST, limit: MAX_NEWEST }),
    lastFound(),
    isPart ? [] : isShared ? likeMemories(parts, visit) : concernsOf(parts, visit),
  ]);
  const wanted = url.searchParams.get("span");
  const span = SPANS.find((each) => each === wanted) ?? "all";
  const growth = growthOf(stats, span, clock());
  const isOwner = account.role === "owner";
  // What people ask is in their own activity.
  const lastSearch = isShared ? null : { event: found };
  return { position, stats, growth, span, newest, lastSearch, concerns, isOwner };
}

/** The overview page. `?span=month`, `year` or `all` selects the period of the growth chart. */
export function addOverviewPage(parts: Parts): void {
  parts.pages.get(PATHS.overview, async (visit) => (
    <OverviewPage visit={visit} {...(await readFigures(parts, visit))} />
  ));
}
