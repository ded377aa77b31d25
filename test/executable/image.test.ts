import { beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { readOnlyRoot } from "../support/bare-root.ts";
import { buildExecutable } from "../support/executable.ts";
import { RIGHT, useOnce } from "../support/main-job.ts";

/** What the image does, shown without an engine: its last stage as a root of its own. */
const TIMEOUT = 120_000;
const ROOT = join(import.meta.dir, "..", "..");
const text = await Bun.file(join(ROOT, "Dockerfile")).text();
const file = DockerfileParser.parse(text);
const stages = file.getFROMs();
const last = file.getInstructions().filter((instruction) => {
  const from = stages.at(-1)?.getRange()?.start.line ?? 0;
  return (instruction.getRange()?.start.line ?? 0) > from;
});
const argumentsOf = (keyword: string) =>
  last.find((instruction) => instruction.getKeyword() === keyword)?.getArgumentsContent() ?? "";
const words = (keyword: string): string[] =>
  JSON.parse(/\[.*\]/s.exec(argumentsOf(keyword))?.[0] ?? "[]");
const env = Object.fromEntries(
  file
    .getENVs()
    .flatMap((instruction) => instruction.getProperties())
    .map((property) => [property.getName(), property.getValue() ?? ""]),
);
const user = Number(argumentsOf("USER").split(":")[0]);
const at = `usr/local/bin/${words("ENTRYPOINT")[0]}`;
const chroot = Bun.which("chroot", { PATH: `${process.env.PATH}:/usr/sbin:/sbin` });
const canMount = process.getuid?.() === 0 && chroot !== null && process.platform === "linux";

describe("the Dockerfile", () => {
  test("is what a linter takes it for", () => {
    expect(validate(text).map(({ message }) => message)).toEqual([]);
  });

  test("takes nothing from anywhere but its base images and the npm registry", () => {
    const commands = file
      .getInstructions()
      .filter((instruction) => ["RUN", "ADD"].includes(instruction.getKeyword()));
    for (const command of commands) {
      expect(command.getArgumentsContent()).not.toMatch(/apt|curl|wget|git |https?:/);
    }
  });

  test("ends in a program that is not root's", () => {
    expect(user).toBeGreaterThan(0);
    expect(words("ENTRYPOINT")).toEqual(["ctxd"]);
    expect(words("CMD")).toEqual(["serve"]);
  });
});

describe.skipIf(!canMount)("the image, its root read-only", () => {
  let executable: string;
  beforeAll(async () => {
    executable = await buildExecutable();
  }, 20 * 60_000);

  const rootOf = (owner: number) => readOnlyRoot(executable, { at, data: "data", owner });
  const inside = (path: string) => (command: string[]) => [
    `${chroot}`,
    `--userspec=${user}:${user}`,
    path,
    ...command,
  ];

  test(
    "does its main job, and writes to its volume alone",
    async () => {
      using root = rootOf(user);
      const place = {
        cwd: root.path,
        executable: `/${at}`,
        serve: [...words("CMD"), "--port", "0"],
        env: { ...env, PATH: process.env.PATH ?? "" },
        wrap: inside(root.path),
      };
      expect(await useOnce(place)).toEqual(RIGHT);
      expect(readdirSync(root.data)).toContain("cache");
      const health = Bun.spawnSync(place.wrap([`/${at}`, ...words("HEALTHCHECK").slice(1)]), place);
      // It has ended: the check is what says so.
      expect(health.exitCode).toBe(1);
    },
    TIMEOUT,
  );

  test(
    "says how to mend a volume that it may not write to",
    () => {
      using root = rootOf(0);
      chmodSync(root.data, 0o755);
      const started = Bun.spawnSync(inside(root.path)([`/${at}`, ...words("CMD")]), {
        env: { ...env, PATH: process.env.PATH ?? "" },
      });
      expect(started.exitCode).toBe(1);
      const said = started.stderr.toString();
      expect(said.trim().split("\n")).toHaveLength(1);
      expect(said).toContain(`chown -R ${user}:${user}`);
    },
    TIMEOUT,
  );
});
