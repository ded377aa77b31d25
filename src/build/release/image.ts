import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../run.ts";
import { linuxExecutables } from "./linux-processors.ts";
import { writePackageFile } from "./package-file.ts";
import { releaseDate } from "./release-date.ts";
import { imageName, mcpName, type Release } from "./release-info.ts";

const ROOT = join(import.meta.dir, "..", "..", "..");

/**
 * Builds the container images of the Linux executables, as archives for `docker load`. They are in Docker's own
 * format, because the OCI format has no health check. It needs buildah, but no daemon and no root, because no
 * program runs in the image.
 * @param base a base image other than the Dockerfile's, for machines that can't reach a registry
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

/** The last stage of the Dockerfile. It copies from the folder instead of the build stage. */
function lastStage(dockerfile: string): string {
  return dockerfile.slice(dockerfile.lastIndexOf("\nFROM ") + 1).replaceAll("--from=build ", "");
}

function from(dockerfile: string, base: string): string {
  return dockerfile.replace(/^FROM .*$/m, `FROM ${base}`);
}

/** Folders of the image with our files. */
const FOLDERS = [
  "usr",
  "usr/local",
  "usr/local/bin",
  "usr/share",
  "usr/share/doc",
  "usr/share/doc/ctxd",
];

/** Writes the files to a folder that the first stage of the Dockerfile would create. */
async function fill(folder: string, executable: string): Promise<void> {
  const root = join(folder, "image");
  await writePackageFile(join(root, "usr/local/bin/ctxd"), { path: executable }, 0o755);
  for (const name of ["LICENSE", "NOTICE"])
    await writePackageFile(join(root, "usr/share/doc/ctxd", name), { path: join(ROOT, name) });
  await mkdir(join(folder, "volume", "data"), { recursive: true });
  // Independent of the umask.
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
  // Built without a name: the archive gets the only one.
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
    // The time of the image and its files, so that equal executables result in equal images.
    `--timestamp=${seconds}`,
    ...Object.entries(labels).map(([label, value]) => `--label=${label}=${value}`),
    `--iidfile=${idFile}`,
    folder,
  );
  await mkdir(release.out, { recursive: true });
  // buildah does not write to an existing archive.
  await rm(path, { force: true });
  const id = (await Bun.file(idFile).text()).trim();
  await buildah("push", id, `docker-archive:${path}:${imageName(release)}`);
  await buildah("rmi", "--force", id);
  return path;
}

async function buildah(...args: string[]): Promise<void> {
  const program = Bun.which("buildah");
  if (!program)
    throw new Error("buildah is missing, which builds images: install the package buildah.");
  await run([program, ...args]);
}
