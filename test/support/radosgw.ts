import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ObjectSettings } from "../../src/config/shared-settings.ts";
import { createSignedCall } from "../../src/objects/signed-call.ts";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

const PROGRAMS = ["radosgw", "radosgw-admin", "ceph-mon", "ceph-osd", "ceph-authtool"];

/** Why there is none here; null when there is one. */
export const radosgwMissing = PROGRAMS.every((name) => Bun.which(name))
  ? null
  : "it takes Ceph (Debian: apt-get install radosgw ceph-mon ceph-osd)";

const ADMIN = "client.admin";
const USER = { accessKeyId: "CTXDTESTKEY", secretAccessKey: "not-a-secret-of-anybody" };

/**
 * Starts Ceph's object store, which checks signatures and knows versioning, with one monitor and one
 * store in memory. It takes some 15 s.
 */
export async function startRadosgw({ bucket = "ctxd" } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "ctxd-radosgw-"));
  const [monitor, port] = [`v2:127.0.0.1:${freePort()}`, freePort()];
  const conf = join(folder, "ceph.conf");
  writeFileSync(conf, settings(folder, monitor));
  const keyring = join(folder, "keyring");
  const command = async (...words: string[]) => {
    const [program = "", ...args] = words;
    const child = Bun.spawn([program, ...args], { cwd: folder, stdout: "pipe", stderr: "pipe" });
    const said = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(`${program}: ${said.join("")}`);
    return said[0];
  };
  const ceph = (program: string, ...args: string[]) => command(program, "-c", conf, ...args);
  const services: Bun.Subprocess[] = [];
  const service = (program: string, ...args: string[]) => {
    const log = Bun.file(join(folder, `${program}.out`));
    const child = Bun.spawn([program, "-c", conf, ...args, "-f"], { stdout: log, stderr: log });
    services.push(child);
  };
  const end = async () => {
    for (const each of services.reverse()) {
      each.kill("SIGKILL");
      await each.exited;
    }
    rmSync(folder, { recursive: true, force: true });
  };

  const endpoint = `http://127.0.0.1:${port}`;
  const place = (prefix = "memories"): ObjectSettings => ({
    ...{ bucket, prefix, endpoint, region: "us-east-1", ...USER, sessionToken: null },
  });
  const call = createSignedCall(place());
  const onBucket = (query: Record<string, string>, body = "") =>
    call({ method: "PUT", query, body: new Blob([body]) }, (answer) => answer.text());

  try {
    for (const name of ["mon.", ADMIN, "osd.0"]) {
      const create = name === "mon." ? ["--create-keyring"] : [];
      const all = ["mon", "osd"].flatMap((kind) => ["--cap", kind, "allow *"]);
      await command("ceph-authtool", ...create, keyring, "--gen-key", "-n", name, ...all);
    }
    const map = join(folder, "monmap");
    await command("monmaptool", "--create", "--fsid", FSID, "--addv", "a", `[${monitor}]`, map);
    await ceph("ceph-mon", "--mkfs", "-i", "a", "--monmap", map, "--keyring", keyring);
    service("ceph-mon", "-i", "a");
    await ceph("ceph", "osd", "create");
    await ceph("ceph", "auth", "import", "-i", keyring);
    for (const name of ["osd", "rgw"]) mkdirSync(join(folder, name));
    await ceph("ceph-osd", "-i", "0", "--mkfs");
    service("ceph-osd", "-i", "0");
    service("radosgw", "-n", ADMIN, "--rgw-frontends", `beast endpoint=127.0.0.1:${port}`);
    const user = ["--uid=test", "--display-name=test"];
    const keys = [`--access-key=${USER.accessKeyId}`, `--secret-key=${USER.secretAccessKey}`];
    await ceph("radosgw-admin", "user", "create", ...user, ...keys);
    await until("the gateway answers", async () => {
      return (await fetch(endpoint).catch(() => null))?.ok === true;
    });
    await onBucket({});
  } catch (error) {
    await end();
    throw error;
  }

  return {
    endpoint,
    bucket,
    place,
    /** Has the bucket keep what is removed, or not any more. */
    async setVersioning(status: "Enabled" | "Suspended") {
      await onBucket(
        { versioning: "" },
        `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`,
      );
    },
    end,
  };
}

const FSID = "11111111-2222-4333-8444-555555555555";

function settings(folder: string, monitor: string): string {
  return `[global]
fsid = ${FSID}
mon host = ${monitor}
ms bind msgr1 = false
keyring = ${folder}/keyring
run dir = ${folder}
log file = ${folder}/$name.log
admin socket = ${folder}/$name.$pid.asok
pid file = ${folder}/$name.$pid.pid
mon data = ${folder}/mon
osd data = ${folder}/osd
osd journal = ${folder}/osd/journal
rgw data = ${folder}/rgw
osd objectstore = memstore
memstore device bytes = 2147483648
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd crush chooseleaf type = 0
mon allow pool size one = true
rgw thread pool size = 32
`;
}
