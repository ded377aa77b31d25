import { expect, test } from "bun:test";
import { join } from "node:path";

const MODULE = join(import.meta.dir, "../../src/server/serve.ts");

function run(prepare: string) {
  const program = `
    ${prepare}
    setTimeout(() => void Promise.reject(new Error("nobody waits for this")), 10);
    setTimeout(() => console.log("still here"), 200);
  `;
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, "-e", program]);
  return { text: stdout.toString(), exitCode };
}

test("an unhandled rejection is logged and does not end the program", () => {
  const { text, exitCode } = run(`
    const { logUnhandled } = await import(${JSON.stringify(MODULE)});
    logUnhandled({ error: (event, { cause }) => console.log(event, cause) });
  `);
  expect(text).toStartWith("unhandled Error: nobody waits for this\n");
  expect(text).toEndWith("still here\n");
  expect(exitCode).toBe(0);
  expect(run("")).toEqual({ text: "", exitCode: 1 });
});
