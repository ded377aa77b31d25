import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join, win32 } from "node:path";
import { errorCode, messageOf } from "../errors.ts";
import { moveFileNow } from "../system/files.ts";
import { homeFolder, roamingFolder } from "../system/folders.ts";
import { HAS_MODES } from "../system/foreign-ancestor.ts";
import { type Client, ConnectError, placeOn, type SettingsFile, unlessDamaged } from "./client.ts";

/** Most bytes of a configuration file. Some clients keep all that they know in theirs. */
const MAX_BYTES = 64 << 20;
/** What follows a file's name in the name of its copy. */
const COPY = ".before-ctxd";
/** Bytes by which a file may grow while it is read. */
const SPARE_BYTES = 64 << 10;

/** The facts that determine where configuration files are. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The operating system, as Node.js names it. */
  readonly platform: string;
}

/** The facts that decide where clients keep their files. */
export function surroundingsOf(env: Surroundings["env"]): Surroundings {
  return { env, home: homeFolder(env) ?? "", platform: process.platform };
}

/** A configuration file as it was read. */
export interface File {
  readonly path: string;
  /** The path with symbolic links resolved. */
  readonly realPath: string;
  /** Empty when there is no file yet. */
  readonly text: string;
  readonly exists: boolean;
  /** Whether the path is that of a symbolic link. */
  readonly isLink: boolean;
}

/**
 * The path where a client looks for its file. A missing file is created there.
 * @throws ConnectError on a system whose paths are unknown
 */
export function locate(settings: SettingsFile, around: Surroundings): string {
  const moved = placeByVariable(settings, around);
  if (moved !== null) return moved;
  const { file, alternatives = [] } = settings;
  const place = placeOn(around.platform, file);
  if (place === null) {
    throw new ConnectError(
      "The folders for settings on this system are unknown: add the entry by hand (--print shows it).",
    );
  }
  const path = resolveHome(place, around);
  if (existsSync(path)) return path;
  const others = alternatives.filter(
    (other) => around.platform === "win32" || other.startsWith("~/"),
  );
  return others.map((other) => resolveHome(other, around)).find(existsSync) ?? path;
}

/** The path that an environment variable gives for the file; null without such a variable. */
function placeByVariable({ pathVariable }: SettingsFile, { env }: Surroundings): string | null {
  const moved = pathVariable && env[pathVariable.variable];
  return moved ? join(moved, pathVariable.file ?? "") : null;
}

/** Resolves the beginning of a path as described for `Places`. */
function resolveHome(path: string, { env, home, platform }: Surroundings): string {
  const config = env.XDG_CONFIG_HOME;
  if (platform === "win32") {
    const [first = "", ...rest] = path.split("/");
    const beginning = first.replace("~", home).replace("%APPDATA%", roamingFolder(env, home));
    return win32.join(beginning, ...rest);
  }
  const found = config && isAbsolute(config) ? path.replace(/^~\/\.config\//, `${config}/`) : path;
  return found.replace(/^~\//, `${home}/`);
}

/** Whether a client has ever run here: its file or its folder exists. */
export function isInstalled(client: Client, around: Surroundings): boolean {
  const path = locate(client, around);
  if (existsSync(path)) return true;
  const isMoved = placeByVariable(client, around) !== null;
  const marker =
    client.installMarker && !isMoved ? resolveHome(client.installMarker, around) : null;
  // The home folder itself does not prove anything.
  return [dirname(path), marker].some(
    (folder) => folder !== null && folder !== around.home && existsSync(folder),
  );
}

/** Whether a file's mode lets other users of this machine read it. */
export function isReadByOthers(path: string): boolean {
  return HAS_MODES && (statSync(path).mode & 0o044) !== 0;
}

/**
 * Reads a configuration file, which may not exist yet.
 * @throws ConnectError when the file can't be read as text
 */
export function readConfiguration(path: string): File {
  try {
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (!info) return { path, realPath: path, text: "", exists: false, isLink: false };
    const realPath = realpathSync(path);
    if (!statSync(realPath).isFile()) throw new ConnectError(`${path} is not a file.`);
    const bytes = readBounded(realPath);
    if (bytes === null) throw new ConnectError(`${path} is too long for settings.`);
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { path, realPath, text, exists: true, isLink: info.isSymbolicLink() };
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    if (error instanceof TypeError) throw new ConnectError(`${path} is not text in UTF-8.`);
    throw new ConnectError(`${path} can't be read (${reasonOf(error)}).`);
  }
}

/** @returns null for what is too long, such as a file of `/proc` that a link leads to */
function readBounded(path: string): Uint8Array | null {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    if (size > MAX_BYTES) return null;
    // A file of `/proc` says that it is empty, and never ends.
    const bytes = Buffer.alloc(size + SPARE_BYTES);
    let length = 0;
    for (let read = -1; read !== 0; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    return length < bytes.length ? bytes.subarray(0, length) : null;
  } finally {
    closeSync(file);
  }
}

/**
 * Replaces the text of a configuration file atomically, with the same mode and owner. A missing folder is
 * created with a mark, so that `removeFolders` knows it.
 * @param copy the path of a copy of the former file, which is written first; null for none
 * @throws ConnectError when the file can't be written, or has changed since it was read
 */
export function replaceConfiguration(file: File, text: string, copy: string | null): void {
  const { path, realPath, exists } = file;
  requireUnchanged(file);
  try {
    const info = exists ? statSync(realPath) : null;
    if (info && (info.mode & 0o222) === 0) {
      throw new ConnectError(
        `${path} is read-only: make it writable, or change it by hand (--print shows what).`,
      );
    }
    createFolders(dirname(realPath));
    if (copy) writeWhole(copy, file.text, info);
    writeWhole(realPath, text, info);
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    throw new ConnectError(`${path} can't be written (${reasonOf(error)}): nothing was changed.`);
  }
}

/**
 * Removes a file that ctxd wrote, or a copy.
 * @throws ConnectError when the file can't be removed, or has changed since it was read
 */
export function removeConfiguration(file: File): void {
  requireUnchanged(file);
  try {
    rmSync(file.path);
  } catch (error) {
    throw new ConnectError(`${file.path} can't be removed (${reasonOf(error)}).`);
  }
}

function requireUnchanged({ path, realPath, text }: File): void {
  const now = readConfiguration(path);
  if (now.text === text && now.realPath === realPath) return;
  throw new ConnectError(`${path} was changed in the meantime: nothing was written, try again.`);
}

/** An empty file in each folder that ctxd created. */
const MARK = ".created-by-ctxd";

function createFolders(folder: string): void {
  if (existsSync(folder)) return;
  createFolders(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, MARK), "", { mode: 0o600 });
}

/**
 * Removes the folders of files and those above them, as far as ctxd created them and they are empty.
 * @param isLast whether a folder with other files loses its mark, because ctxd needs it no more
 * @throws ConnectError when one can't be removed
 */
export function removeFolders(files: readonly File[], isLast: boolean): void {
  // The inner ones first.
  const folders = files.map(({ realPath }) => dirname(realPath));
  for (let folder of folders.sort((a, b) => b.length - a.length)) {
    try {
      for (; existsSync(join(folder, MARK)); folder = dirname(folder)) {
        const isEmpty = readdirSync(folder).length === 1;
        if (!isEmpty && !isLast) break;
        rmSync(join(folder, MARK));
        if (isEmpty) rmdirSync(folder);
      }
    } catch (error) {
      throw new ConnectError(`${folder} can't be removed (${reasonOf(error)}).`);
    }
  }
}

/** The copies of a file from before ctxd changed it, the newest first. */
export function copiesOf({ realPath }: File): File[] {
  const [folder, start] = [dirname(realPath), `${basename(realPath)}${COPY}`];
  return namesIn(folder)
    .filter((name) => name.startsWith(start) && /^(-\d{1,6})?$/.test(name.slice(start.length)))
    .sort((a, b) => b.length - a.length || (b > a ? 1 : -1))
    .flatMap((name) => unlessDamaged(() => [readConfiguration(join(folder, name))], []))
    .filter(({ isLink }) => !isLink);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (/^(ENOENT|ENOTDIR)$/.test(errorCode(error))) return [];
    throw new ConnectError(`${folder} can't be read (${reasonOf(error)}).`);
  }
}

/** The path for another copy of a file. */
export function nextCopy(file: File): string {
  const start = `${file.realPath}${COPY}`;
  for (let number = 1; ; number++) {
    const path = number === 1 ? start : `${start}-${number}`;
    if (!lstatSync(path, { throwIfNoEntry: false })) return path;
  }
}

/** Writes a file atomically: at any moment it has either the old text or the whole new one. */
function writeWhole(
  path: string,
  text: string,
  like: { mode: number; uid?: number; gid?: number } | null,
): void {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    const handle = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    if (like) chmodSync(draft, like.mode & 0o7777);
    if (like?.uid !== undefined && like.gid !== undefined) giveTo(draft, like.uid, like.gid);
    moveFileNow(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Sets the owner of a file. Only root may do so; other users already own the file. */
function giveTo(path: string, uid: number, gid: number): void {
  try {
    chownSync(path, uid, gid);
  } catch (error) {
    if (process.getuid?.() === 0) throw error;
  }
}

function reasonOf(error: unknown): string {
  return errorCode(error) || messageOf(error);
}
