/** @jsxRuntime automatic @jsxImportSource #pages */

import type { ActorCount } from "../../activity/activity-reports.ts";
import { type CheckResult, runChecks } from "../../http/health.ts";
import type { KeyRecord } from "../../keys/keys.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Moment } from "../../pages/moment.tsx";
import { memoryCount } from "../../text/number-text.ts";
import { createPause } from "../../timing/pause.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import type { AgentState } from "../../uses/agent-states.ts";
import { LOCAL_SOURCE_ID } from "../../uses/agent-states.ts";
import { actorsOf, agentName, firstDay } from "../activity/activity-view.ts";
import { EXPIRING_DAYS, filterOf, readView, viewPath } from "../memories/memories-view.ts";
import { BACKUPS_PATH, HEALTH_PATH, PATHS, tidyPath } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";

const DAY = 86_400_000;
/** Days without a request after which a busy agent is silent, and the days that it was busy in. */
const SILENT_DAYS = 7;
const LOOKED_DAYS = 30;
/** Actions from which on an agent is expected to come back. */
const BUSY = 10;
/** Questions of a week from which on their success is judged, and the share of them that may find nothing. */
const ENOUGH_QUESTIONS = 10;
const MAX_IN_VAIN = 0.5;
/** Days before the end of a key in which it is named. */
const ENDING_DAYS = 14;
const MAX_CONCERNS = 8;
/** Milliseconds that the page waits for a count of memories. A later page has it. */
const COUNT_TIMEOUT_MS = 50;
/** Lists of memories that need a person: their filter, what one and several of them do, and why it matters. */
const LISTS = [
  ["secret", "contains a secret", "contain a secret", "that agents can read"],
  [
    "expiring",
    ...[`expires within ${EXPIRING_DAYS} days`, `expire within ${EXPIRING_DAYS} days`],
    "and will be deleted",
  ],
] as const;
/** Kinds of likenesses: what one and several groups are called, and why they matter. */
const LIKE = [
  [
    "restatements",
    "1 fact is kept twice",
    "facts are kept twice or more",
    "keep the newest of each",
  ],
  ["contradictions", "1 fact has changed", "facts have changed", "the earlier text is still found"],
] as const;
/** States of a check that end by themselves: `ok`, `loading` and `changing`. */
const PASSING = /^(?:ok|loading|changing)/;

/** What a person should look at: a link, and why. */
interface Concern {
  readonly href: string;
  readonly title: string;
  readonly why: Markup | string;
}

/** What of an account, and for the owner of the server, needs a person. */
export async function concernsOf(parts: Parts, visit: Visit): Promise<Concern[]> {
  const { activity, reportAgents, keys, grants, checks, clock } = parts;
  const { account } = visit;
  const now = clock();
  const ofMemories = Promise.all([concernsOfMemories(parts, visit), likeMemories(parts, visit)]);
  const pause = createPause();
  const counts = await activity.actors(account.id, firstDay(LOOKED_DAYS, now));
  await pause();
  const lately = await activity.actors(account.id, firstDay(SILENT_DAYS, now));
  const [ofKeys, ofApps] = await Promise.all([keys.list(account.id), grants.list(account.id)]);
  const alive = ofKeys.filter(({ expiresAt }) => (expiresAt?.getTime() ?? Infinity) > now);
  const active = [...alive, ...ofApps].filter(({ revokedAt, pausedAt }) => {
    return revokedAt === null && pausedAt === null;
  });
  const activeIds = new Set([LOCAL_SOURCE_ID, ...active.map(({ id }) => id)]);
  const states = account.role === "owner" ? await runChecks(checks) : {};
  return [
    ...concernsOfServer(states),
    ...silentAgents(
      counts.filter(({ sourceId }) => activeIds.has(sourceId)),
      account.id,
      now,
    ),
    ...brokenAgents(await reportAgents(account.id)),
    ...(await ofMemories).flat(),
    ...questionsInVain(lately),
    ...endingKeys(ofKeys, now),
  ];
}

async function concernsOfMemories(parts: Parts, { reach }: Visit): Promise<Concern[]> {
  const concerns = LISTS.map(async ([only, one, several, why]) => {
    const view = readView(new URLSearchParams({ only }));
    const counted = filterOf(parts, reach, view).then((filter) =>
      parts.memories.count(reach, filter),
    );
    const count = await withTimeLimit(counted, COUNT_TIMEOUT_MS, () => 0);
    const title = `${memoryCount(count)} ${count === 1 ? one : several}`;
    return count === 0 ? [] : [{ href: viewPath({ only }), title, why }];
  });
  return (await Promise.all(concerns)).flat();
}

/** Memories that say the same as others, or change what they say, each with a link to exactly those. */
export async function likeMemories({ tidy }: Parts, { reach }: Visit): Promise<Concern[]> {
  const kinds = await withTimeLimit(tidy.likenessCounts(reach), COUNT_TIMEOUT_MS, () => null);
  return LIKE.flatMap(([kind, one, several, why]) => {
    const count = kinds?.[kind] ?? 0;
    const title = count === 1 ? one : `${count.toLocaleString("en")} ${several}`;
    return count === 0 ? [] : [{ href: tidyPath(kind), title, why }];
  });
}

function concernsOfServer(states: Readonly<Record<string, CheckResult>>): Concern[] {
  return Object.entries(states).flatMap(([part, state]) => {
    if (PASSING.test(state)) return [];
    if (part === "backups")
      return { href: BACKUPS_PATH, title: "No recent backup", why: "The last one is overdue" };
    return { href: HEALTH_PATH, title: `Server: ${part}`, why: state };
  });
}

function silentAgents(counts: readonly ActorCount[], accountId: string, now: number): Concern[] {
  return actorsOf(counts, accountId)
    .filter(({ saved, asked, lastAt }) => {
      return saved + asked >= BUSY && now - lastAt.getTime() > SILENT_DAYS * DAY;
    })
    .map(({ name, by, lastAt }) => ({
      href: PATHS.agents,
      title: by === null ? `${name} is silent` : `${name} (${by}) is silent`,
      why: (
        <>
          last active <Moment at={lastAt} now={now} />
        </>
      ),
    }));
}

function brokenAgents(states: readonly AgentState[]): Concern[] {
  return states.flatMap(({ agent, machine, warnings }) =>
    warnings.map((why) => ({
      href: PATHS.agents,
      title: agent === null ? machine : `${agentName(agent)} on ${machine}`,
      why,
    })),
  );
}

function questionsInVain(counts: readonly ActorCount[]): Concern[] {
  const asked = counts.filter(({ kind }) => kind === "searched");
  const times = asked.reduce((sum, each) => sum + each.times, 0);
  const inVain = asked.reduce((sum, each) => sum + each.inVain, 0);
  if (times < ENOUGH_QUESTIONS || inVain / times <= MAX_IN_VAIN) return [];
  return [
    {
      href: `${PATHS.activity}?days=${SILENT_DAYS}`,
      title: "Searches find little",
      why: `${inVain.toLocaleString("en")} of ${times.toLocaleString("en")} in ${SILENT_DAYS} days found nothing`,
    },
  ];
}

function endingKeys(keys: readonly KeyRecord[], now: number): Concern[] {
  return keys
    .filter(({ revokedAt, expiresAt }) => {
      if (revokedAt !== null || expiresAt === null) return false;
      return Math.abs(expiresAt.getTime() - now) < ENDING_DAYS * DAY;
    })
    .map(({ name, expiresAt }) => ({
      href: PATHS.keys,
      title: `The key “${name}” ${(expiresAt?.getTime() ?? 0) > now ? "expires" : "has expired"}`,
      why: <Moment at={expiresAt} now={now} />,
    }));
}

/** The concerns as a list of links; nothing when there are none. */
export function Attention({ concerns }: { concerns: readonly Concern[] }) {
  if (concerns.length === 0) return null;
  return (
    <section class="panel attention" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <ul>
        {concerns.slice(0, MAX_CONCERNS).map(({ href, title, why }) => (
          <li>
            <a href={href}>
              <bdi>{title}</bdi>
            </a>{" "}
            <span class="faint">{why}</span>
          </li>
        ))}
      </ul>
      {concerns.length > MAX_CONCERNS && (
        <p class="faint">{`and ${concerns.length - MAX_CONCERNS} more`}</p>
      )}
    </section>
  );
}
