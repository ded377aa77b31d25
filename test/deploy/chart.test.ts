import { beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { readConfig } from "../../src/config/config.ts";
import { AWS_SETTINGS } from "../../src/config/shared-settings.ts";
import { hasHelm, helm } from "../support/helm.ts";
import { startServer } from "../support/server.ts";

const CHART = join(import.meta.dir, "..", "..", "src", "deploy", "helm");
const VALUES = join(CHART, "ci", "test-values.yaml");
const read = (name: string) => Bun.file(join(CHART, name)).text();

interface Schema {
  properties?: Record<string, Schema>;
}

describe("the chart", () => {
  test("has the program's version", async () => {
    const chart = parse(await read("Chart.yaml"));
    expect(chart).toMatchObject({ apiVersion: "v2", name: "ctxd" });
    expect(chart.appVersion).toBe(packageJson.version);
  });

  test("has a comment for each value, and a schema with exactly these values", async () => {
    const text = await read("values.yaml");
    const { properties = {} }: Schema = JSON.parse(await read("values.schema.json"));
    const values: Record<string, unknown> = parse(text);
    // Subcharts would have values below `global`.
    expect(
      Object.keys(properties)
        .filter((key) => key !== "global")
        .toSorted(),
    ).toEqual(Object.keys(values).toSorted());
    for (const [key, schema] of Object.entries(properties)) {
      const nested = values[key];
      if (!schema.properties || typeof nested !== "object" || nested === null) continue;
      expect(Object.keys(nested).toSorted()).toEqual(Object.keys(schema.properties).toSorted());
    }
    for (const key of ["replicas", "publicUrl", "drainSeconds", "settings", "trustProxy"]) {
      expect(text).toMatch(new RegExp(`^# .+\\n${key}:`, "m"));
    }
  });

  test("has no autoscaling", () => {
    const files = readdirSync(join(CHART, "templates")).join();
    expect(files).not.toMatch(/autoscal|hpa/i);
  });
});

interface Container {
  name: string;
  args: string[];
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: unknown } }[];
  [probe: `${string}Probe`]: { httpGet: { path: string } };
}
interface Rendered {
  kind: string;
  spec: {
    replicas: number;
    maxUnavailable: number;
    template: {
      spec: {
        terminationGracePeriodSeconds: number;
        enableServiceLinks: boolean;
        containers: [Container];
        initContainers: [Container];
      };
    };
  };
}

describe.skipIf(!hasHelm)("the rendered chart", () => {
  let rendered: Rendered[];
  beforeAll(async () => {
    const { exitCode, output } = await helm("template", "ctxd", CHART, "--values", VALUES);
    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
    rendered = parseAllDocuments(output).map((document) => document.toJS());
  });
  const podOf = () => {
    const found = rendered.find(({ kind }) => kind === "Deployment");
    if (!found) throw new Error("there is no deployment");
    return found.spec.template.spec;
  };
  const containers = () => [...podOf().initContainers, ...podOf().containers];

  test("passes helm lint", async () => {
    const linted = await helm("lint", "--strict", CHART, "--values", VALUES);
    expect(linted).toMatchObject({ exitCode: 0 });
    expect(linted.output).not.toMatch(/ERROR|WARNING/);
  });

  test.each([
    ["nothing", []],
    ["a setting of no name", ["--set", "settings.PORT=1"]],
    ["a value that is unknown", ["--set", "replica=3"]],
    ["no replica", ["--set", "replicas=0"]],
    ["an invalid bucket address", ["--set", "objects.url=https://memories"]],
  ])("its schema refuses %s", async (said, args) => {
    const values = said === "nothing" ? [] : ["--values", VALUES];
    const { exitCode, output } = await helm("template", "x", CHART, ...values, ...args);
    expect(exitCode).not.toBe(0);
    expect(output).toContain("values don't meet the specifications of the schema");
  });

  test("has a deployment, a service, a disruption budget and an ingress", () => {
    expect(rendered.map(({ kind }) => kind).toSorted()).toEqual([
      "Deployment",
      "Ingress",
      "PodDisruptionBudget",
      "Service",
    ]);
  });

  test("sets only known settings, and takes secrets only from secrets", () => {
    const secret = { CTXD_DATABASE_URL: "postgres://ctxd:secret@db/ctxd" };
    for (const { env } of containers()) {
      const given = Object.fromEntries(env.map(({ name, value }) => [name, value]));
      expect(Object.keys(given)).toHaveLength(env.length);
      for (const { name, value, valueFrom } of env) {
        const isSecret = /SECRET|_KEY|PASSWORD|DATABASE_URL/.test(name);
        expect({ name, isSecret: valueFrom !== undefined }).toEqual({ name, isSecret });
        expect({ name, hasValue: value !== undefined }).toEqual({ name, hasValue: !isSecret });
        if (name.startsWith("AWS_")) expect(AWS_SETTINGS).toContain(name as never);
      }
      const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
      const oidc = { CTXD_OIDC_ISSUER: "https://x.example.com", CTXD_OIDC_CLIENT_ID: "a" };
      const { shared, registration, publicUrl } = readConfig(
        { ...given, ...secret, ...keys, ...oidc, CTXD_OIDC_CLIENT_SECRET: "b" },
        {},
      );
      expect(shared?.objects).toMatchObject({
        bucket: "memories",
        prefix: "team-1",
        endpoint: "https://s3.example.com",
      });
      expect({ registration, publicUrl }).toEqual({
        registration: "closed",
        publicUrl: "https://memory.example.com",
      });
    }
    // Kubernetes would set CTXD_PORT for a service named ctxd.
    expect(podOf().enableServiceLinks).toBe(false);
  });

  test("uses existing health paths, and does not restart for the database", async () => {
    await using server = await startServer();
    const [{ startupProbe, livenessProbe, readinessProbe }] = podOf().containers;
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
      const path = probe?.httpGet.path ?? "";
      expect({ path, status: (await fetch(server.origin + path)).status }).toEqual({
        path,
        status: 200,
      });
    }
    expect(livenessProbe?.httpGet.path).toBe("/api/health/live");
    expect(readinessProbe?.httpGet.path).toBe("/api/health");
  });

  test("runs existing commands, and waits for the shutdown of a server", () => {
    expect(containers().map(({ args }) => args)).toEqual([["migrate"], ["serve"]]);
    const drain = Number(
      podOf().containers[0].env.find(({ name }) => name === "CTXD_DRAIN_SECONDS")?.value,
    );
    // `STOP_LIMIT` in server/serve.ts, and some more.
    expect(podOf().terminationGracePeriodSeconds).toBeGreaterThan(drain + 40);
  });
});
