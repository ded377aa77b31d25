import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { SQL } from "bun";
import { outcomeOf } from "./outcome.ts";
import { sharedPostgres, startPostgres } from "./postgres.ts";
import { isAlive } from "./process-family.ts";
import { until } from "./until.ts";

async function fill(url: string) {
  await using sql = new SQL(url, { max: 1 });
  await sql.unsafe("create table words (word text); insert into words values ('of the template')");
}

test("each database starts as a copy of the template and is separate from the others", async () => {
  const postgres = await sharedPostgres();
  await using one = await postgres.database(fill);
  await using other = await postgres.database(fill);
  await postgres.execute("insert into words values ('of one')", one.name);
  expect(await postgres.execute("select * from words", one.name)).toHaveLength(2);
  expect(await postgres.execute("select * from words", other.name)).toHaveLength(1);
});

test("texts are sorted by the rules of a language, not by their bytes", async () => {
  const postgres = await sharedPostgres();
  const rows = await postgres.execute("select * from (values ('B'), ('a')) as t (w) order by w");
  expect(rows.map(({ w }: { w: string }) => w)).toEqual(["a", "B"]);
});

test("a server keeps its data when it is stopped, killed or paused", async () => {
  await using postgres = await startPostgres();
  await fill(postgres.urlOf("postgres"));
  const words = () => postgres.execute("select * from words");
  await postgres.stop();
  expect(await outcomeOf(words())).toThrow();
  await postgres.start();
  expect(await words()).toHaveLength(1);
  await postgres.kill();
  expect(await outcomeOf(words())).toThrow();
  await postgres.start();
  expect(await words()).toHaveLength(1);

  postgres.pause();
  let isAnswered = false;
  const waiting = words().then(() => {
    isAnswered = true;
  });
  await Bun.sleep(50);
  expect(isAnswered).toBe(false);
  postgres.resume();
  await waiting;
});

test("the server ends with the process that started it, even if that was killed", async () => {
  const program = `
    import { startPostgres } from "${join(import.meta.dir, "postgres.ts")}";
    const postgres = await startPostgres();
    console.log(JSON.stringify([postgres.pid(), postgres.folder]));
    await Bun.sleep(60_000);`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const [pid, folder] = JSON.parse(new TextDecoder().decode(value));
  expect(isAlive(pid)).toBe(true);
  child.kill("SIGKILL");
  await until("all of it is gone", () => !isAlive(pid) && !existsSync(folder));
  expect(existsSync(dirname(folder))).toBe(true);
});
