import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config/config.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createObjects, measureObjects } from "../../src/objects/objects.ts";
import { startObjectStore } from "../support/object-store.ts";
import { outcomeOf } from "../support/outcome.ts";

test("calls of an object store are counted by operation and result", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  await using store = await startObjectStore();
  const env = { HOME: folder, CTXD_DATABASE_URL: "postgres://a@b/c", ...store.settings() };
  const { shared } = readConfig(env, {});
  if (!shared) throw new Error("no settings of an object store");
  const metrics = createMetrics();
  const objects = measureObjects(createObjects(shared.objects), metrics);
  const countOf = async (operation: string, result: string) => {
    const name = "ctxd_object_request_duration_seconds_count";
    const line = `${name}{operation="${operation}",result="${result}"} `;
    const found = (await metrics.text()).split("\n").find((each) => each.startsWith(line));
    return Number(found?.slice(line.length) ?? 0);
  };

  await objects.put("a/1", new Blob(["one"]));
  await objects.fetch("a/1", join(folder, "1"), null);
  expect(await Bun.file(join(folder, "1")).text()).toBe("one");
  expect((await Array.fromAsync(objects.list("a/"))).flat()).toEqual([{ name: "a/1", bytes: 3 }]);
  expect(await outcomeOf(objects.fetch("a/2", join(folder, "2"), null))).toThrow("NoSuchKey");
  await objects.remove("a/1");
  expect(await countOf("put", "ok")).toBe(1);
  expect(await countOf("get", "ok")).toBe(1);
  expect(await countOf("get", "not_found")).toBe(1);
  expect(await countOf("list", "ok")).toBeGreaterThan(0);
  expect(await countOf("delete", "ok")).toBe(1);

  await store.stop();
  expect(await outcomeOf(objects.put("a/3", new Blob(["three"])))).toThrow();
  await objects.versioning().catch(() => {});
  expect(await countOf("put", "unreachable")).toBe(1);
  expect(await countOf("versioning", "unreachable")).toBe(1);
  rmSync(folder, { recursive: true });
});
