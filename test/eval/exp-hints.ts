import { hintOf, isRestatement } from "../../src/memories/ranking/hint.ts";
import { meaningScore } from "../../src/memories/ranking/relevance.ts";
import { cosineOf } from "../../src/memories/ranking/version-order.ts";
import { readPairs } from "./pairs.ts";
import { withEvaluationServer } from "./server.ts";
const tl = await import("../../src/memories/ranking/token-likeness.ts").catch(() => null);
await withEvaluationServer(async (_, embedder) => {
  for (const half of ["dev", "held"] as const) {
    const out = [];
    for (const pair of await readPairs(half)) {
      const a = await embedder.embedContent(pair.earlier), b = await embedder.embedContent(pair.later);
      const alike = meaningScore(cosineOf(a.vectors[0]!, b.vectors[0]!), embedder.model.cosines);
      const l: any = tl ? { alike, tokens: process.env.NOTOK ? null : tl.compareTokens(a.states, b.states) } : alike;
      out.push({ ...pair, hint: hintOf(pair.earlier, pair.later, l), m: isRestatement({ content: pair.earlier }, { content: pair.later }, l) });
    }
    const k = (...x: string[]) => out.filter((o) => x.includes(o.kind));
    const sh = (a: any[], f: any) => (a.filter(f).length / a.length).toFixed(3);
    const told = out.filter((o) => o.hint === "changed");
    console.log(half, "precision", sh(told, (o: any) => o.kind === "changed"), "recall", sh(k("changed"), (o: any) => o.hint === "changed"), "called same", k("changed").filter((o) => o.hint === "near").length, "unrelated told", sh(k("unrelated"), (o: any) => o.hint), "merged", sh(k("same"), (o: any) => o.m), "across", k("changed", "related", "unrelated").filter((o) => o.m).length);
  }
});
