import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { startObjectStore } from "./object-store.ts";
import { outcomeOf } from "./outcome.ts";

test("the object store keeps objects across a restart, answers nothing while paused, and leaves no files", async () => {
  const store = await startObjectStore();
  const { endpoint, bucket } = store;
  const { AWS_ACCESS_KEY_ID: accessKeyId = "", AWS_SECRET_ACCESS_KEY: secretAccessKey = "" } =
    store.settings();
  const client = new Bun.S3Client({ endpoint, bucket, accessKeyId, secretAccessKey });
  await client.write("a/b", "text");
  await store.stop();
  expect(await outcomeOf(client.file("a/b").text())).toThrow();
  await store.start();
  expect(await client.file("a/b").text()).toBe("text");
  store.pause();
  const reading = client.file("a/b").text();
  expect(await Promise.race([reading, Bun.sleep(200)])).toBeUndefined();
  store.resume();
  expect(await reading).toBe("text");
  await store.end();
  expect(existsSync(store.folder)).toBe(false);
});
