import { run } from "./cli/program.ts";

// Who reads our output may leave at any time (`ctxd key list | head -1`): that ends no server and
// needs no stack trace. `print` in cli/terminal.ts notices for itself.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

// What is kept, exported or unpacked is nobody else's, whatever the shell has set.
process.umask(0o077);

process.exitCode = await run(process.argv.slice(2), process.env);

// `bun --watch` waits for a change even after the end, and a second Ctrl-C would be in vain.
if (process.execArgv.includes("--watch") && process.exitCode === 0) process.exit();
