import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "yaml";
import { readConfig } from "../../src/config/config.ts";
import { AWS_SETTINGS } from "../../src/config/shared-settings.ts";
import { startServer } from "../support/server.ts";

interface Service {
  image: string;
  build?: string;
  environment?: Record<string, string>;
  depends_on?: Record<string, object>;
  volumes?: string[];
  configs?: { source: string }[];
  stop_grace_period?: string;
}
interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, null>;
  configs: Record<string, { content: string }>;
}

const FOLDER = join(import.meta.dir, "..", "..", "src", "deploy");
const text = await Bun.file(join(FOLDER, "compose.yaml")).text();
const variables: Record<string, string> = {
  CTXD_DOMAIN: "memory.example.com",
  POSTGRES_PASSWORD: "secret",
  OBJECTS_KEY: "ctxd",
  OBJECTS_SECRET: "secret",
};
const compose: Compose = parse(
  text.replaceAll(/\$\{(\w+):\?[^}]*\}/g, (_, name: string) => variables[name] ?? "UNKNOWN"),
  { merge: true },
);
const services = Object.entries(compose.services);
const replicas = services.filter(([, { build }]) => build !== undefined);
const proxy = compose.configs.caddyfile?.content ?? "";

describe("the compose file", () => {
  test("explains every variable that it requires", () => {
    expect(text).not.toContain("UNKNOWN");
    const asked = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    const told = new Set([...text.matchAll(/^# {3}(\w+)=/gm)].map(([, name]) => name));
    expect(told).toEqual(asked);
  });

  test("pins the version of every foreign image", () => {
    for (const [name, { image, build }] of services) {
      if (build === undefined)
        expect({ name, image }).toEqual({
          name,
          image: expect.stringMatching(/:v?\d+\.\d+(\.\d+)?$/),
        });
    }
  });

  test("refers to existing services and volumes", async () => {
    for (const [, { build, depends_on = {}, volumes = [], configs = [] }] of services) {
      for (const name of Object.keys(depends_on)) expect(compose.services).toHaveProperty(name);
      for (const volume of volumes) {
        expect(compose.volumes).toHaveProperty([volume.split(":")[0] ?? ""]);
      }
      for (const { source } of configs) expect(compose.configs).toHaveProperty(source);
      if (build) expect(await Bun.file(join(FOLDER, build, "Dockerfile")).exists()).toBe(true);
    }
  });

  test("starts two replicas with known settings, each with its own cache", () => {
    expect(replicas).toHaveLength(2);
    expect(new Set(replicas.map(([, { volumes }]) => volumes?.join())).size).toBe(2);
    for (const [, { environment = {} }] of replicas) {
      for (const name of Object.keys(environment)) {
        if (!name.startsWith("CTXD_")) expect(AWS_SETTINGS).toContain(name as never);
      }
      const { shared, publicUrl } = readConfig({ HOME: "/home/you", ...environment }, {});
      expect(publicUrl).toBe("https://memory.example.com");
      const { hostname, username, password } = new URL(shared?.databaseUrl ?? "");
      expect(compose.services[hostname]?.environment).toMatchObject({
        POSTGRES_USER: username,
        POSTGRES_PASSWORD: password,
      });
      const store = new URL(shared?.objects.endpoint ?? "").hostname;
      expect(compose.services[store]?.environment).toMatchObject({
        ROOT_ACCESS_KEY: shared?.objects.accessKeyId ?? "",
        ROOT_SECRET_KEY: shared?.objects.secretAccessKey ?? "",
      });
      expect(compose.services.bucket).toMatchObject({
        entrypoint: ["mkdir", "-p", `/data/${shared?.objects.bucket}`],
      });
    }
  });

  test("gives a replica enough time for its shutdown", () => {
    for (const [, { stop_grace_period = "", environment }] of replicas) {
      const drain = Number(environment?.CTXD_DRAIN_SECONDS);
      // `STOP_LIMIT` in server/serve.ts.
      expect(Number(stop_grace_period.replace("s", ""))).toBeGreaterThan(drain + 40);
    }
  });
});

describe("the proxy", () => {
  test("sends requests to all replicas", () => {
    const [, upstreams = ""] = /reverse_proxy (.*) \{/.exec(proxy) ?? [];
    expect(upstreams.split(" ").toSorted()).toEqual(replicas.map(([name]) => `${name}:7733`));
  });

  test("uses a readiness check that a replica answers", async () => {
    const [, path = ""] = /health_uri (\S+)/.exec(proxy) ?? [];
    await using server = await startServer({ config: { trustProxy: true } });
    const headers = { host: "ctxd-1:7733", "x-forwarded-proto": "https" };
    expect(proxy).toContain("X-Forwarded-Proto https");
    expect((await fetch(server.origin + path, { headers })).status).toBe(200);
  });
});
