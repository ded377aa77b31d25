import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { make } from "../../src/build/release/image.ts";
import { temporaryFolder } from "../support/database.ts";

const TIMEOUT = 120_000;
const canBuild = Bun.which("buildah") && Bun.spawnSync(["buildah", "info"]).exitCode === 0;

function run(...command: string[]): string {
  return Bun.spawnSync(command).stdout.toString();
}

test.skipIf(!canBuild)(
  "an image has the settings of the Dockerfile, and contains the executable",
  async () => {
    const out = temporaryFolder();
    const executable = join(temporaryFolder(), "ctxd");
    writeFileSync(executable, "stand-in");
    const repository = "https://github.com/owner/ctxd";
    const executables = { "linux-x64": executable, "linux-arm64": executable };
    const made = await make({ version: "99.0.0", repository, executables, out }, "scratch");
    expect(made).toEqual(["amd64", "arm64"].map((cpu) => join(out, `image-${cpu}.tar`)));
    for (const [at, path] of made.entries()) {
      const files = temporaryFolder();
      run("tar", "-C", files, "-xf", path);
      const [manifest] = await Bun.file(join(files, "manifest.json")).json();
      expect(manifest.RepoTags).toEqual(["ghcr.io/owner/ctxd:99.0.0"]);
      const image = await Bun.file(join(files, manifest.Config)).json();
      expect(image).toMatchObject({
        architecture: ["amd64", "arm64"][at],
        config: {
          User: "10001:10001",
          Entrypoint: ["ctxd"],
          Cmd: ["serve"],
          Healthcheck: { Test: ["CMD", "ctxd", "health"] },
          Volumes: { "/data": {} },
          Labels: { "org.opencontainers.image.version": "99.0.0" },
        },
      });
      expect(image.config.Env).toContain("CTXD_INSTALLED_BY=image");
      const layers: string[] = manifest.Layers;
      const listed = layers.flatMap((layer) =>
        run("tar", "-tvf", join(files, layer), "--numeric-owner").split("\n"),
      );
      const entry = (name: string) => listed.find((line) => line.endsWith(` ${name}`));
      expect(entry("usr/local/bin/ctxd")).toStartWith("-rwxr-xr-x 0/0 ");
      expect(entry("data/")).toStartWith("drwx------ 10001/10001 ");
    }
  },
  TIMEOUT,
);
