import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drawBars } from "../bars.ts";
import type { Options } from "../options.ts";
import { commandOf } from "../server-process.ts";
import { chromaPeer } from "./chroma.ts";
import { createCtxd } from "./ctxd.ts";
import { type Figures, measurePeers } from "./measure.ts";
import { miniSearchPeer } from "./minisearch.ts";
import { peersBars, peersTable } from "./report.ts";
import { serverMemoryPeer } from "./server-memory.ts";
import { sqliteVecPeer } from "./sqlite-vec.ts";

/** Compares ctxd with what one would use instead: prints a table for each size, and draws the largest one. */
export async function benchPeers({ sizes, out, executable, checkout }: Options): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "ctxd-bench-"));
  const cache = join(root, "cache");
  const others = [sqliteVecPeer, chromaPeer, miniSearchPeer, serverMemoryPeer];
  const all: Figures[] = [];
  try {
    for (const size of sizes) {
      const folders = { cache, data: join(root, `${size}`) };
      const ctxd = createCtxd(commandOf(executable, checkout), folders);
      const { figures, missing } = await measurePeers([ctxd, ...others], size, folders);
      all.push(...figures);
      console.log(`\n${size.toLocaleString("en")} memories\n\n${peersTable(figures)}\n`);
      for (const why of missing) console.log(`left out: ${why}`);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  const largest = all.filter(({ memories }) => memories === sizes.at(-1));
  mkdirSync(out, { recursive: true });
  await Bun.write(join(out, "peers.json"), `${JSON.stringify(all, null, 2)}\n`);
  await Bun.write(join(out, "peers.svg"), drawBars(peersBars(largest)));
  console.log(`peers.json and peers.svg are in ${out}`);
}
