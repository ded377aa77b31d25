import { expect, test } from "bun:test";
import { packageRunnerOf } from "../../src/server/invocation.ts";

const END = "node_modules/@ctxd/linux-x64/bin/ctxd";

test.each([
  ["npx", `/home/you/.npm/_npx/a897626b70ddd291/${END}`, "npx ctxd"],
  [
    "pnpm",
    `/home/you/.cache/pnpm/dlx/6f3a/19a0-b2/node_modules/.pnpm/ctxd/${END}`,
    "pnpm dlx ctxd",
  ],
  ["an older pnpm", `/home/you/.local/share/pnpm/store/v3/tmp/dlx-4711/${END}`, "pnpm dlx ctxd"],
  ["Bun", `/tmp/bunx-1000-ctxd@latest/${END}`, "bunx ctxd"],
  ["Yarn", `/tmp/xfs-0a1b2c3d/dlx-4711/${END}`, "yarn dlx ctxd"],
])("a program in the cache of %s is started with that runner", (_, program, typed) => {
  const runner = packageRunnerOf(program, "linux");
  expect(runner?.typed.join(" ")).toBe(typed);
  expect(runner?.started.at(-1)).toBe("ctxd");
});

test("an agent starts npx without a question or a request to the registry, on Windows through cmd", () => {
  const program = `C:\\Users\\you\\AppData\\Local\\npm-cache\\_npx\\a89\\node_modules\\ctxd.exe`;
  const started = ["npx", "-y", "--prefer-offline", "ctxd"];
  expect(packageRunnerOf(program, "win32")?.started).toEqual(["cmd", "/c", ...started]);
  expect(packageRunnerOf(`/root/.npm/_npx/a89/${END}`, "linux")?.started).toEqual(started);
});

test.each([
  `/usr/local/lib/node_modules/ctxd/${END}`,
  `/home/you/.bun/install/global/${END}`,
  `/home/you/project/${END}`,
  "/usr/bin/ctxd",
  "/home/you/npx/ctxd",
])("%s is not in a runner's cache", (program) => expect(packageRunnerOf(program)).toBeNull());
