#!/usr/bin/env node
// The command of the npm package. It starts the executable, which is in the package of this system. It is plain
// Node.js, and does not process the input or output of the executable.
"use strict";
const { spawn } = require("node:child_process");
const { accessSync, constants } = require("node:fs");
const { isatty } = require("node:tty");
const { optionalDependencies } = require("./package.json");

const SCOPE = "@ctxd/";
const isWindows = process.platform === "win32";
const system = `${isWindows ? "windows" : process.platform}-${process.arch}`;

/** Prints a sentence for the user and ends. */
function fail(sentence) {
  process.stderr.write(`ctxd: ${sentence}\n`);
  process.exit(1);
}

function isMusl() {
  if (process.platform !== "linux" || !process.report) return false;
  // Otherwise Node.js looks up the names of all open connections for the report.
  process.report.excludeNetwork = true;
  return !process.report.getReport().header.glibcVersionRuntime;
}

function findExecutable() {
  const known = Object.keys(optionalDependencies);
  if (!known.includes(SCOPE + system)) {
    const hint =
      system === "darwin-x64" ? " (on a Mac with Apple silicon, use a Node.js for arm64)" : "";
    const systems = known.map((name) => name.slice(SCOPE.length)).join(", ");
    fail(`there is no executable for ${system}${hint}, only for ${systems}.`);
  }
  try {
    return require.resolve(`${SCOPE}${system}/bin/ctxd${isWindows ? ".exe" : ""}`);
  } catch {
    fail(
      isMusl()
        ? "it needs a Linux with glibc 2.28 or later; this one has musl (such as Alpine), for which there is no executable."
        : `the package ${SCOPE}${system} is missing: install ctxd again on this system, with optional dependencies.`,
    );
  }
}

const path = findExecutable();
const words = process.argv.slice(2);
const env = { ...process.env, CTXD_INSTALLED_BY: "npm" };
try {
  accessSync(path, constants.X_OK);
} catch (error) {
  fail(`${path} can't be started (${error.code}).`);
}

// Newer versions of Node.js can replace themselves by the executable, so that no Node.js process waits.
if (process.execve && !isWindows) process.execve(path, [path, ...words], env);

// Before the start, so that an early signal is passed on too.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => {
    // A terminal also sends the signal to the executable, which ends immediately at a second Ctrl-C.
    const isSent = isatty(0) && (signal === "SIGINT" || signal === "SIGQUIT");
    if (!isSent) child.kill(signal);
  });
}

const child = spawn(path, words, { stdio: "inherit", env });
child.on("error", (error) => fail(`${path} can't be started (${error.code}).`));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
