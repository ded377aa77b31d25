/** @jsxRuntime automatic @jsxImportSource #pages */

import { GROUPINGS, type Grouping, type Groups, MAX_GROUPS } from "../../memories/map/groups.ts";
import type { Topic } from "../../memories/map/topics.ts";
import type { Memory } from "../../memories/model/memory.ts";
import { idOnMap, type MemoryMap } from "../../memories/rules/map.ts";
import { MAP } from "../../pages/assets.ts";
import { ButtonLink } from "../../pages/button.tsx";
import { EmptyState } from "../../pages/layout.tsx";
import { SLOT } from "../../pages/page-response.tsx";
import { titleOf } from "../../text/excerpt.ts";
import { memoryCount } from "../../text/number-text.ts";
import { viewPath } from "../memories/memories-view.ts";
import { MEMORY_PATHS, memoryPath, PATHS, Tabs } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../session.ts";

/** Paths that the script of the page requests. */
export const MAP_PATHS = { points: `${PATHS.map}/points`, texts: `${PATHS.map}/texts` } as const;

const TITLES: Record<Grouping, string> = { project: "Project", tag: "Tag", agent: "Agent" };
const NONE: Record<Grouping, string> = { project: "No project", tag: "No tag", agent: "No agent" };

/** The page of the map, on which memories with similar meanings lie close together. The map is streamed in place of `SLOT`. */
export function MapPage({ visit }: { visit: Visit }) {
  return (
    <Page
      visit={visit}
      section="map"
      title="Map"
      lead="Your memories at a glance. Memories about the same subject lie close together."
      assets={[MAP]}
    >
      {SLOT}
    </Page>
  );
}

/** Shown until the map is ready; the stylesheet then hides it. */
export function MapPending() {
  return (
    <p class="map-wait faint" role="status">
      The map is being drawn. After a change this takes a few seconds.
    </p>
  );
}

export function EmptyMap() {
  return (
    <EmptyState title="Nothing to draw yet">
      <p>
        The map shows every memory as a point. Memories about the same subject lie close together,
        so you see what your agents know most about.
      </p>
      <div class="actions">
        <ButtonLink href={MEMORY_PATHS.new} kind="main">
          Add a first memory
        </ButtonLink>
        <ButtonLink href={PATHS.connect}>Connect an agent</ButtonLink>
      </div>
    </EmptyState>
  );
}

/**
 * The map, which a script draws, with its legend and its topics beside it.
 * @param typical the most typical memories of the topics
 */
export function MapOfMemories({
  map,
  by,
  typical,
}: {
  map: MemoryMap;
  by: Grouping;
  typical: readonly Memory[];
}) {
  const shown = map.topicOf.length;
  const texts = new Map(typical.map(({ id, content }) => [id, titleOf(content)]));
  return (
    <div
      class="map"
      data-points={`${MAP_PATHS.points}?version=${map.version}`}
      data-texts={MAP_PATHS.texts}
      data-by={by}
    >
      <div class="map-view" hidden={true}>
        <div class="map-stage">
          <canvas
            tabindex={0}
            role="img"
            aria-label={`Map of ${memoryCount(shown)}. The list of topics has the same information.`}
            aria-describedby="map-keys"
          />
          <div class="map-tools">
            <button type="button" data-zoom="in" aria-label="Zoom in">
              +
            </button>
            <button type="button" data-zoom="out" aria-label="Zoom out">
              −
            </button>
            <button type="button" data-zoom="all">
              All
            </button>
          </div>
          <div class="map-tip" role="status" />
        </div>
        <p id="map-keys" class="map-keys">
          <kbd>j</kbd> <kbd>k</kbd> next and previous, <kbd>Enter</kbd> opens, arrows move,{" "}
          <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>0</kbd> shows everything.
        </p>
      </div>
      <div class="map-side">
        {shown < map.total && (
          <p class="faint">
            {`The map shows ${shown.toLocaleString("en")} of ${memoryCount(map.total)}, chosen at random. The sample stays the same when memories are added.`}
          </p>
        )}
        <Legend groups={map.groups[by]} by={by} />
        <section class="map-topics">
          <h2>Topics</h2>
          <ol>
            {map.topics.map((topic, number) => (
              <TopicItem
                topic={topic}
                number={number}
                typical={topic.typical.flatMap((point) => {
                  const id = idOnMap(map, point);
                  const text = texts.get(id);
                  return text === undefined ? [] : { id, text };
                })}
              />
            ))}
          </ol>
        </section>
      </div>
    </div>
  );
}

/** The meaning of the colours. With scripts, each group can be hidden. */
function Legend({ groups, by }: { groups: Groups; by: Grouping }) {
  const { named, others, none } = groups;
  const pathOf = (name: string) =>
    viewPath({ project: { project: name }, tag: { tags: name }, agent: { agent_id: name } }[by]);
  return (
    <section class="map-legend">
      <h2>Colours</h2>
      <Tabs
        label="Colours by"
        of="views"
        tabs={GROUPINGS.map((each) => [`${PATHS.map}?by=${each}`, TITLES[each]])}
        current={`${PATHS.map}?by=${by}`}
      />
      <ul class="map-groups">
        {named.map(({ name, memories }, bit) => (
          <Entry bit={bit} name={name} href={pathOf(name)} count={memories} />
        ))}
        {others > 0 && <Entry bit={MAX_GROUPS} name="Others" count={others} />}
        {none > 0 && (
          <Entry
            bit={MAX_GROUPS + 1}
            name={NONE[by]}
            {...(by === "project" && { href: viewPath({ unfiled: "1" }) })}
            count={none}
          />
        )}
      </ul>
    </section>
  );
}

function Entry({
  bit,
  name,
  href,
  count,
}: {
  bit: number;
  name: string;
  /** The memories of the group as a list. */
  href?: string;
  count: number;
}) {
  const text = <bdi>{titleOf(name)}</bdi>;
  return (
    <li data-bit={bit}>
      <span class={`map-swatch hue-${bit + 1}`} aria-hidden="true" />
      <span class="map-group one-line">
        {href === undefined ? text : <a href={href}>{text}</a>}
      </span>
      <span class="count number">{count.toLocaleString("en")}</span>
    </li>
  );
}

function TopicItem({
  topic,
  number,
  typical,
}: {
  topic: Topic;
  number: number;
  typical: readonly { id: string; text: string }[];
}) {
  const { words, x, y, memories } = topic;
  const name = words.length > 0 ? words.join(", ") : "Various";
  return (
    <li data-topic={number} data-x={x.toFixed(4)} data-y={y.toFixed(4)}>
      <h3>
        <bdi class="topic-name">{name}</bdi> <span class="count">{memoryCount(memories)}</span>
      </h3>
      <ul>
        {typical.map(({ id, text }) => (
          <li>
            <a class="one-line" href={memoryPath(id)}>
              <bdi>{text}</bdi>
            </a>
          </li>
        ))}
      </ul>
      <p class="topic-links">
        {words.length > 0 && (
          <a href={viewPath({ q: words.join(" ") })}>
            Search<span class="hidden-text"> for {name}</span>
          </a>
        )}
        <button type="button" class="link" data-show="topic" hidden={true}>
          Show<span class="hidden-text"> {name} on the map</span>
        </button>
      </p>
    </li>
  );
}
