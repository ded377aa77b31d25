import { beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { readOnlyRoot } from "../support/bare-root.ts";
import { buildExecutable } from "../support/executable.ts";
import { RIGHT, useOnce } from "../support/main-job.ts";

// Tests the image without a container engine, in a root file system like its last stage.
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
  test("has no findings of a linter", () => {
    expect(validate(text).map(({ message }) => message)).toEqual([]);
  });

  test("downloads only base images and packages of the npm registry", () => {
    const commands = file
      .getInstructions()
      .filter((instruction) => ["RUN", "ADD"].includes(instruction.getKeyword()));
    for (const command of commands) {
      expect(command.getArgumentsContent()).not.toMatch(/apt|curl|wget|git |https?:/);
    }
  });

  test("does not run the program as root", () => {
    expect(user).toBeGreaterThan(0);
    expect(words("ENTRYPOINT")).toEqual(["ctxd"]);
    expect(words("CMD")).toEqual(["serve"]);
  });
});

describe.skipIf(!canMount)("the image with a read-only root", () => {
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
    "saves and finds memories, and writes only to its volume",
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
      // The server has ended, so the health check fails.
      expect(health.exitCode).toBe(1);
    },
    TIMEOUT,
  );

  test(
    "says how to repair a volume without write permission",
    () => {
      using root = rootOf(0);
      chmodSync(root.data, 0o755);
      const started = Bun.spawnSync(inside(root.path)([`/${at}`, ...words("CMD")]), {
        env: { ...env, PATH: process.env.PATH ?? "" },
      });
      expect(started.exitCode).toBe(1);
      const message = started.stderr.toString();
      expect(message.trim().split("\n")).toHaveLength(1);
      expect(message).toContain(`chown -R ${user}:${user}`);
    },
    TIMEOUT,
  );
});
