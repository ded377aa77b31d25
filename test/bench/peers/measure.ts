import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../src/errors.ts";
import type { NewMemory } from "../../../src/memories/model/memory.ts";
import { anonymousMemory, diskUse, MIB } from "../footprint.ts";
import { median, percentile, timed } from "../numbers.ts";
import { createProgress } from "../progress.ts";
import { createSentences } from "../sentences.ts";
import type { Folders } from "../server-process.ts";
import { BATCH } from "../throughput.ts";
import { type ModelFolders, startEngine } from "./engine.ts";
import type { EmbeddedMemory, Peer, RunningPeer } from "./peer.ts";

/** The same texts in every run. */
const SEED = 7_733;

/** What one program needed for the same texts. Times are milliseconds, sizes MiB. */
export interface Figures {
  readonly name: string;
  readonly scope: string;
  readonly memories: number;
  readonly searchP50: number;
  readonly searchP95: number;
  readonly saveP50: number;
  /** Memories a second. */
  readonly load: number;
  /** `null` where the system does not tell it. */
  readonly memory: number | null;
  readonly disk: number;
  /** Until the first answer. */
  readonly start: number;
}

/** How often something is measured. */
export interface Effort {
  readonly warmUp: number;
  readonly searches: number;
  readonly saves: number;
  readonly starts: number;
  /** Milliseconds without work before memory is read. An engine that is not needed any more ends within 20 s. */
  readonly rest: number;
}

const EFFORT: Effort = { warmUp: 20, searches: 150, saves: 60, starts: 5, rest: 30_000 };

/** A peer that runs, and the folder where it keeps everything. */
interface Entry {
  readonly peer: Peer;
  readonly folder: string;
  readonly running: RunningPeer;
  /** Milliseconds that it took to load all memories. */
  readonly loading: number;
}

type Engine = Awaited<ReturnType<typeof startEngine>>;

/** What those need that are given vectors: a peer that keeps nothing. */
const ENGINE_ALONE: Peer = {
  name: "embedding alone",
  needsVectors: true,
  scope: "part of all that search by meaning",
  async start() {
    const nothing = async () => "";
    return { load: nothing, save: nothing, search: nothing, stop: async () => {} };
  },
};

/**
 * Has all peers keep the same memories and answer the same questions, each after the other, so that a machine that gets slower
 * meanwhile is as slow for all. Whoever needs vectors gets those of one engine, whose time and memory are added to its own.
 * @param folders `data`: a new folder
 * @returns the figures, and why a peer is missing
 */
export async function measurePeers(
  peers: readonly Peer[],
  memories: number,
  folders: Folders,
  effort = EFFORT,
): Promise<{ figures: Figures[]; missing: string[] }> {
  await using opened = new AsyncDisposableStack();
  const running = new Set<RunningPeer>();
  const stopAll = async () => {
    const all = [...running];
    running.clear();
    await Promise.all(all.map(({ stop }) => stop()));
  };
  opened.defer(stopAll);
  const engine = await startEngine(folders);
  opened.defer(engine.end);
  const sentences = createSentences(SEED);
  const texts = Array.from({ length: memories }, () => sentences.memory());
  const { batches, embedding } = await embedAll(engine, texts);

  const missing: string[] = [];
  const entries: Entry[] = [];
  for (const peer of [ENGINE_ALONE, ...peers]) {
    const folder = join(folders.data, `${entries.length}`);
    mkdirSync(folder, { recursive: true });
    const started = await peer.start(folder).catch((error) => `${peer.name}: ${messageOf(error)}`);
    if (typeof started === "string") {
      missing.push(started);
      continue;
    }
    running.add(started);
    let loading = 0;
    for (const batch of batches) loading += await timed(() => started.load(batch));
    if (effort.rest > 0) await started.settle?.();
    entries.push({ peer, folder, running: started, loading });
  }

  const search = (times: number) =>
    inTurns(
      entries,
      times,
      async () => {
        const text = sentences.query();
        return { text, vector: await engine.call("embedQuestion", text) };
      },
      (running, question) => running.search(question),
    );
  await search(effort.warmUp);
  const searches = await search(effort.searches);
  const saves = await inTurns(
    entries,
    effort.saves,
    async () => (await engine.call("embedMemories", [sentences.memory()]))[0],
    async (running, memory) => memory && running.save(memory),
  );
  await Bun.sleep(effort.rest);
  const engineMemory = await anonymousMemory(engine.pid);
  const own = await Promise.all(
    entries.map(({ running: { pid } }) => (pid ? anonymousMemory(pid) : 0)),
  );
  await stopAll();
  await engine.end();

  const figures: Figures[] = [];
  for (const [at, { peer, folder, loading }] of entries.entries()) {
    const { name, scope, needsVectors } = peer;
    const memory = own[at] ?? null;
    const shared = needsVectors ? engineMemory : 0;
    const seconds = (loading + (needsVectors ? embedding : 0)) / 1_000;
    const starts: number[] = [];
    for (let turn = 0; turn < effort.starts; turn++) {
      starts.push(await measureStart(peer, folder, folders, sentences.query()));
    }
    figures.push({
      ...{ name, scope, memories },
      searchP50: median(searches[at] ?? []),
      searchP95: percentile(searches[at] ?? [], 0.95),
      saveP50: median(saves[at] ?? []),
      load: memories / seconds,
      memory: memory === null || shared === null ? null : (memory + shared) / MIB,
      disk: (await diskUse(folder)) / MIB,
      start: median(starts),
    });
  }
  return { figures, missing };
}

/** Embeds memories in batches, and tells how many milliseconds that took. */
async function embedAll(engine: Engine, texts: readonly NewMemory[]) {
  const progress = createProgress("embedding memories", texts.length);
  const batches: EmbeddedMemory[][] = [];
  let embedding = 0;
  for (let at = 0; at < texts.length; at += BATCH) {
    const batch = texts.slice(at, at + BATCH);
    embedding += await timed(async () => {
      batches.push(await engine.call("embedMemories", batch));
    });
    progress.report(at + batch.length);
  }
  progress.end();
  return { batches, embedding };
}

/** Inputs that a peer gets in a row: as in use, its first one finds the processor's caches full of other programs' data. */
const ROW = 10;

/**
 * Milliseconds that each entry needs for the same inputs, in rows. Another one begins each time.
 * @param embed makes an input
 */
async function inTurns<Input>(
  entries: readonly Entry[],
  times: number,
  embed: () => Promise<Input>,
  work: (running: RunningPeer, input: Input) => Promise<unknown>,
): Promise<number[][]> {
  const spent: number[][] = entries.map(() => []);
  for (let done = 0, turn = 0; done < times; done += ROW, turn++) {
    const row: { input: Input; embedding: number }[] = [];
    while (row.length < Math.min(ROW, times - done)) {
      const started = performance.now();
      row.push({ input: await embed(), embedding: performance.now() - started });
    }
    for (const [offset] of entries.entries()) {
      const at = (turn + offset) % entries.length;
      const entry = entries[at];
      if (!entry) continue;
      for (const { input, embedding } of row) {
        const own = await timed(() => work(entry.running, input));
        spent[at]?.push(own + (entry.peer.needsVectors ? embedding : 0));
      }
    }
  }
  return spent;
}

/** Milliseconds until a peer that was stopped, and the engine if it needs it, have answered a question. */
async function measureStart(peer: Peer, folder: string, folders: ModelFolders, text: string) {
  const started = performance.now();
  const [running, engine] = await Promise.all([
    peer.start(folder),
    peer.needsVectors ? startEngine(folders) : null,
  ]);
  const vector = (await engine?.call("embedQuestion", text)) ?? new Float32Array();
  await running.search({ text, vector });
  const passed = performance.now() - started;
  await running.stop();
  await engine?.end();
  return passed;
}
