import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../native/run.ts";
import { linuxExecutables } from "./linux-processors.ts";
import { put } from "./put.ts";
import { releaseDate } from "./release-date.ts";
import { imageName, mcpName, type Release } from "./release-info.ts";

const ROOT = join(import.meta.dir, "..", "..");

/**
 * Makes the container images of the Linux executables: archives for `docker load`, in Docker's own format, because
 * that of OCI has no health check. Needs buildah, no daemon and no root: nothing is run in the image.
 * @param base another image than that of the Dockerfile, for where no registry can be reached
 */
export async function make(release: Release, base?: string): Promise<string[]> {
  const text = lastStage(await Bun.file(join(ROOT, "Dockerfile")).text());
  const written: string[] = [];
  for (const { executable, processor } of linuxExecutables(release)) {
    const folder = await mkdtemp(join(tmpdir(), "ctxd-image-"));
    try {
      await Bun.write(join(folder, "Dockerfile"), base ? from(text, base) : text);
      await fill(folder, executable);
      written.push(await build(release, executable, { folder, processor }));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return written;
}

/** The Dockerfile without the stage that builds: what it takes from there is in the folder. */
function lastStage(dockerfile: string): string {
  return dockerfile.slice(dockerfile.lastIndexOf("\nFROM ") + 1).replaceAll("--from=build ", "");
}

function from(dockerfile: string, base: string): string {
  return dockerfile.replace(/^FROM .*$/m, `FROM ${base}`);
}

/** Folders of the image that hold our files. */
const FOLDERS = [
  ...["usr", "usr/local", "usr/local/bin"],
  ...["usr/share", "usr/share/doc", "usr/share/doc/ctxd"],
];

/** Puts into a folder what the first stage of the Dockerfile makes. */
async function fill(folder: string, executable: string): Promise<void> {
  const root = join(folder, "image");
  await put(join(root, "usr/local/bin/ctxd"), { path: executable }, 0o755);
  for (const name of ["LICENSE", "NOTICE"])
    await put(join(root, "usr/share/doc/ctxd", name), { path: join(ROOT, name) });
  await mkdir(join(folder, "volume", "data"), { recursive: true });
  // Whatever the umask of who makes it.
  for (const path of ["volume", "image", ...FOLDERS.map((each) => join("image", each))])
    await chmod(join(folder, path), 0o755);
  await chmod(join(folder, "volume", "data"), 0o700);
}

async function build(
  release: Release,
  executable: string,
  { folder, processor }: { folder: string; processor: string },
): Promise<string> {
  const path = join(release.out, `image-${processor}.tar`);
  // The image has one name, which it is published by.
  const idFile = join(folder, "id");
  const seconds = (await releaseDate(release.version, executable)).getTime() / 1000;
  const labels = {
    "org.opencontainers.image.version": release.version,
    "org.opencontainers.image.source": release.repository,
    "io.modelcontextprotocol.server.name": mcpName(release),
  };
  await buildah(
    "build",
    "--format=docker",
    `--platform=linux/${processor}`,
    // Of the image and of its files: the same executable makes the same image.
    `--timestamp=${seconds}`,
    ...Object.entries(labels).map(([label, value]) => `--label=${label}=${value}`),
    `--iidfile=${idFile}`,
    folder,
  );
  await mkdir(release.out, { recursive: true });
  // Nothing is added to an archive that is there.
  await rm(path, { force: true });
  const id = (await Bun.file(idFile).text()).trim();
  await buildah("push", id, `docker-archive:${path}:${imageName(release)}`);
  await buildah("rmi", "--force", id);
  return path;
}

async function buildah(...args: string[]): Promise<void> {
  const program = Bun.which("buildah");
  if (!program)
    throw new Error("buildah makes images and is not here: install the package buildah.");
  await run([program, ...args]);
}
