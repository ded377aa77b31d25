import { run } from "./cli/program.ts";

// The reader of the output may close the pipe at any time (`ctxd key list | head -1`). This must not end a
// server or print a stack trace. `print` in cli/terminal.ts reports it where it matters.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

// No other user may read the files that this program writes, whatever umask the shell has.
process.umask(0o077);

process.exitCode = await run(process.argv.slice(2), process.env);

// `bun --watch` waits for a change even after the program has ended, and ignores a second Ctrl-C.
if (process.execArgv.includes("--watch") && process.exitCode === 0) process.exit();
