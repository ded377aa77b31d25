import { chmod, mkdir, mkdtemp, readdir, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { COMPLETION_SCRIPTS } from "../../../cli/completion-scripts.ts";
import { TARGETS } from "../../../native/targets.ts";
import { run } from "../../run.ts";
import { linuxExecutables } from "../linux-processors.ts";
import { manPage } from "../man-page.ts";
import { type Content, writePackageFile } from "../package-file.ts";
import { releaseDate } from "../release-date.ts";
import { ownerOf, type Release } from "../release-info.ts";
import { changelog } from "./changelog.ts";
import { control } from "./control.ts";

const ROOT = join(import.meta.dir, "..", "..", "..", "..");
const FILES = join(import.meta.dir, "files");

/**
 * Builds the Debian packages of the Linux executables. It needs dpkg-deb but no root.
 * @throws Error when dpkg-deb is missing or fails
 */
export async function make(release: Release): Promise<string[]> {
  const written: string[] = [];
  for (const linux of linuxExecutables(release)) written.push(await buildPackage(release, linux));
  return written;
}

type LinuxExecutable = ReturnType<typeof linuxExecutables>[number];

async function buildPackage(release: Release, linux: LinuxExecutable): Promise<string> {
  const { executable, processor } = linux;
  const path = join(release.out, `ctxd_${release.version}_${processor}.deb`);
  const tree = await mkdtemp(join(tmpdir(), "ctxd-deb-"));
  try {
    const date = await releaseDate(release.version, executable);
    for (const [name, { content, mode }] of await contents(release, executable, date))
      await writePackageFile(join(tree, name), content, mode);
    await describe(release, tree, linux);
    await normalize(tree, date);
    await pack(tree, path, date);
    return path;
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

interface Installed {
  readonly content: Content;
  readonly mode?: number;
}

/** The files that the package installs, by path. */
async function contents(
  release: Release,
  executable: string,
  date: Date,
): Promise<Map<string, Installed>> {
  const own = (name: string): Installed => ({ content: { path: join(FILES, name) } });
  const compressed = (text: string): Installed => ({ content: Bun.gzipSync(text, { level: 9 }) });
  const text = (path: string) => Bun.file(path).text();
  const day = date.toISOString().slice(0, 10);
  const filled = async (name: string) =>
    (await text(join(FILES, name)))
      .replace("REPOSITORY", release.repository)
      .replace("VERSION", release.version)
      .replace("DATE", day);
  const documents = "usr/share/doc/ctxd";
  return new Map<string, Installed>([
    ["usr/bin/ctxd", { content: { path: executable }, mode: 0o755 }],
    ["usr/sbin/ctxd-service", { ...own("ctxd-service"), mode: 0o755 }],
    // Settings may contain secrets.
    ["etc/ctxd/ctxd.env", { ...own("ctxd.env"), mode: 0o600 }],
    ["usr/lib/systemd/system/ctxd.service", own("ctxd.service")],
    ["usr/lib/sysusers.d/ctxd.conf", own("sysusers.conf")],
    ["usr/lib/tmpfiles.d/ctxd.conf", own("tmpfiles.conf")],
    ["usr/share/bash-completion/completions/ctxd", { content: COMPLETION_SCRIPTS.bash }],
    ["usr/share/zsh/vendor-completions/_ctxd", { content: COMPLETION_SCRIPTS.zsh }],
    ["usr/share/fish/vendor_completions.d/ctxd.fish", { content: COMPLETION_SCRIPTS.fish }],
    ["usr/share/man/man1/ctxd.1.gz", compressed(await manPage(release.version, day))],
    ["usr/share/man/man8/ctxd-service.8.gz", compressed(await filled("ctxd-service.8"))],
    [`${documents}/changelog.gz`, compressed(changelog(release, date))],
    [`${documents}/CHANGELOG.md.gz`, compressed(await text(join(ROOT, "CHANGELOG.md")))],
    [`${documents}/NOTICE.gz`, compressed(await text(join(ROOT, "NOTICE")))],
    [`${documents}/README.Debian`, own("README.Debian")],
    [`${documents}/copyright`, { content: await filled("copyright") }],
    ["usr/share/lintian/overrides/ctxd", own("lintian-overrides")],
  ]);
}

/** Writes the files for dpkg: the control file, the scripts, the list of settings and the checksums. */
async function describe(
  release: Release,
  tree: string,
  { target, processor }: LinuxExecutable,
): Promise<void> {
  let bytes = 0;
  const sums: string[] = [];
  for (const name of await filesOf(tree)) {
    const file = Bun.file(join(tree, name));
    bytes += file.size;
    const hash = new Bun.CryptoHasher("md5");
    for await (const chunk of file.stream()) hash.update(chunk);
    sums.push(`${hash.digest("hex")}  ${name}\n`);
  }
  const own = join(tree, "DEBIAN");
  const text = control({
    version: release.version,
    repository: release.repository,
    owner: ownerOf(release),
    architecture: processor,
    glibc: TARGETS[target].glibc,
    kibibytes: Math.ceil(bytes / 1024),
  });
  await writePackageFile(join(own, "control"), text);
  await writePackageFile(join(own, "md5sums"), sums.join(""));
  await writePackageFile(join(own, "conffiles"), "/etc/ctxd/ctxd.env\n");
  for (const script of ["postinst", "prerm", "postrm"])
    await writePackageFile(join(own, script), { path: join(FILES, script) }, 0o755);
}

async function filesOf(tree: string): Promise<string[]> {
  const names = await readdir(tree, { recursive: true, encoding: "utf8" });
  const kinds = await Promise.all(
    names.map(async (name) => (await stat(join(tree, name))).isFile()),
  );
  return names.filter((_, at) => kinds[at]).sort();
}

/** Sets all times and folder modes, so that equal files result in equal packages. */
async function normalize(tree: string, date: Date): Promise<void> {
  for (const name of await readdir(tree, { recursive: true, encoding: "utf8" })) {
    const path = join(tree, name);
    // Independent of the umask.
    if ((await stat(path)).isDirectory()) await chmod(path, 0o755);
    await utimes(path, date, date);
  }
  await chmod(tree, 0o755);
  await utimes(tree, date, date);
}

async function pack(tree: string, path: string, date: Date): Promise<void> {
  const program = Bun.which("dpkg-deb");
  if (!program) throw new Error("dpkg-deb is missing, which builds Debian packages: install dpkg.");
  await mkdir(dirname(path), { recursive: true });
  // Every dpkg version in use supports xz. The date is that of the archive's entries.
  const time = `SOURCE_DATE_EPOCH=${date.getTime() / 1000}`;
  await run(["env", time, program, "--root-owner-group", "-Zxz", "--build", tree, path]);
}
