#!/usr/bin/env node
// The command of the npm package: starts the executable, which is in the package of this system. It is
// plain Node.js, and has no part in what the executable reads, writes or answers.
"use strict";
const { spawn } = require("node:child_process");
const { accessSync, constants } = require("node:fs");
const { isatty } = require("node:tty");
const { optionalDependencies } = require("./package.json");

const SCOPE = "@ctxd/";
const isWindows = process.platform === "win32";
const system = `${isWindows ? "windows" : process.platform}-${process.arch}`;

/** Ends with the one sentence that a person can act on. */
function fail(sentence) {
  process.stderr.write(`ctxd: ${sentence}\n`);
  process.exit(1);
}

function isMusl() {
  if (process.platform !== "linux" || !process.report) return false;
  // Node.js would look up the names of all open connections for it.
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
        ? "it needs a Linux with glibc 2.28 or later; this one has musl (Alpine, say), for which there is no executable."
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

// Newer versions of Node.js can become the executable: then none waits beside it.
if (process.execve && !isWindows) process.execve(path, [path, ...words], env);

// Before it starts: a signal that comes as soon as it says something is passed on too.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => {
    // A terminal tells the executable too, which takes a second Ctrl-C as impatience.
    const isTold = isatty(0) && (signal === "SIGINT" || signal === "SIGQUIT");
    if (!isTold) child.kill(signal);
  });
}

const child = spawn(path, words, { stdio: "inherit", env });
child.on("error", (error) => fail(`${path} can't be started (${error.code}).`));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
