import { expect, test } from "bun:test";
import { createEmbeddingQueue, type Job } from "../../src/embedding/embedding-queue.ts";

let last = 0;
function jobOf(accountId: string, type: Job["type"], length: number): Job {
  const text = "x".repeat(length);
  return { id: ++last, type, text, accountId, passages: null, vectors: [], states: [] };
}

/** Makes runs until the queue has had a number of them, each of which ends its job. */
function run(queue: ReturnType<typeof createEmbeddingQueue>, runs: number): Job[] {
  return Array.from({ length: runs }).flatMap(() => {
    const job = queue.next();
    if (job) queue.remove(job.id);
    return job ?? [];
  });
}

test("an account with many texts and one with few get runs in turn", () => {
  const queue = createEmbeddingQueue();
  for (let n = 0; n < 100; n++) queue.add(jobOf("many", "content", 2_000));
  run(queue, 20);
  for (let n = 0; n < 5; n++) queue.add(jobOf("few", "content", 2_000));
  const accounts = run(queue, 11).map(({ accountId }) => accountId);
  expect(accounts.filter((each) => each === "few")).toHaveLength(5);
});

test("long queries do not keep contents from their turn, nor contents a query", () => {
  const queue = createEmbeddingQueue();
  for (let n = 0; n < 100; n++) queue.add(jobOf("one", "query", 2_000));
  for (let n = 0; n < 10; n++) queue.add(jobOf("one", "content", 100));
  const contents = run(queue, 20).filter(({ type }) => type === "content");
  expect(contents.length).toBeGreaterThanOrEqual(8);

  const busy = createEmbeddingQueue();
  for (let n = 0; n < 100; n++) busy.add(jobOf("one", "content", 2_000));
  run(busy, 20);
  const query = jobOf("one", "query", 50);
  busy.add(query);
  expect(run(busy, 2)).toContain(query);
});

test("an account that was idle saves up nothing, and one that waits for each answer pays for its runs", () => {
  const queue = createEmbeddingQueue();
  queue.add(jobOf("idle", "content", 100));
  run(queue, 1);
  for (let n = 0; n < 1_000; n++) queue.add(jobOf("busy", "content", 100));
  run(queue, 500);
  for (let n = 0; n < 100; n++) queue.add(jobOf("idle", "content", 100));
  const shares = run(queue, 20).filter(({ accountId }) => accountId === "idle");
  expect(shares.length).toBeLessThanOrEqual(11);

  // One long text at a time against short ones: the short ones get most runs.
  let short = 0;
  for (let n = 0; n < 40; n++) {
    queue.add(jobOf("slow", "content", 2_000));
    const [job] = run(queue, 1);
    if (job?.accountId !== "slow") short++;
  }
  expect(short).toBeGreaterThan(30);
});

test("short texts do not wait for long ones of their account, nor a long one forever for many short ones", () => {
  const queue = createEmbeddingQueue();
  const [first, second] = [jobOf("one", "content", 30_000), jobOf("one", "content", 30_000)];
  const sentence = jobOf("one", "content", 30);
  for (const job of [first, second, sentence]) queue.add(job);
  expect([queue.next(), queue.next()]).toEqual([first, sentence]);
  queue.remove(sentence.id);
  for (let n = 0; n < 10; n++) queue.add(jobOf("one", "content", 10));
  // Half of the work each: a run of a long text costs as much as some twenty of a short one.
  const runs = Array.from({ length: 60 }, () => queue.next());
  expect(runs.slice(0, 10)).not.toContain(first);
  expect(runs.filter((job) => job === first)).toHaveLength(3);
});

test("texts of about one length are embedded in the order of their arrival", () => {
  const queue = createEmbeddingQueue();
  const jobs = [80, 30, 140, 20, 60].map((length) => jobOf("one", "query", length));
  for (const job of jobs) queue.add(job);
  expect(run(queue, 5)).toEqual(jobs);
});
