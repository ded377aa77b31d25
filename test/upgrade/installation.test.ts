import { expect, test } from "bun:test";
import {
  adviceFor,
  findInstallMethod,
  type InstallMethod,
  type Traces,
} from "../../src/upgrade/installation.ts";

const NOTE = "/home/you/.local/share/ctxd-install/ctxd.install.json";
const BY_SCRIPT = { [NOTE]: '{"by":"install.sh","version":"0.2.0","path":"/home/you/bin/ctxd"}' };

interface Place {
  executable: string;
  mark?: string;
  files?: Record<string, string>;
}

function traces({ executable, mark, files = {} }: Place): Traces {
  return {
    ...{ isCheckout: false, executable, mark, home: "/home/you" },
    read: (path) => files[path] ?? null,
    real: (path) => path,
  };
}

const CASES: [InstallMethod, Place, string | null][] = [
  ["npm", { executable: "/x/ctxd", mark: "npm" }, "npm install --global ctxd@latest"],
  [
    "npm",
    { executable: "/usr/lib/node_modules/ctxd/node_modules/@ctxd/linux-x64/ctxd" },
    "npm install --global ctxd@latest",
  ],
  [
    "npm",
    {
      executable:
        "C:\\Users\\you\\AppData\\Roaming\\npm\\node_modules\\@ctxd\\windows-x64\\ctxd.exe",
    },
    "npm install --global ctxd@latest",
  ],
  [
    "npm",
    { executable: "/home/you/.npm/_npx/1f/node_modules/@ctxd/linux-x64/ctxd" },
    "npx -y ctxd@latest",
  ],
  [
    "npm",
    { executable: "/home/you/.bun/install/global/node_modules/@ctxd/linux-x64/ctxd" },
    "bun add --global ctxd@latest",
  ],
  [
    "npm",
    { executable: "/home/you/.local/share/pnpm/global/5/node_modules/@ctxd/linux-x64/ctxd" },
    "pnpm add --global ctxd@latest",
  ],
  [
    "npm",
    { executable: "/home/you/project/node_modules/@ctxd/linux-x64/ctxd" },
    "npm install ctxd@latest",
  ],
  [
    "image",
    { executable: "/usr/local/bin/ctxd", mark: "image" },
    "docker pull ghcr.io/owner/ctxd:latest",
  ],
  ["mcpb", { executable: "/x/server/ctxd", mark: "mcpb" }, null],
  [
    "deb",
    { executable: "/usr/bin/ctxd", files: { "/var/lib/dpkg/info/ctxd.list": "/usr/bin/ctxd\n" } },
    "sudo apt install ./ctxd_VERSION_arm64.deb",
  ],
  ["file", { executable: "/usr/bin/ctxd" }, null],
  ["homebrew", { executable: "/opt/homebrew/Cellar/ctxd/0.2.0/bin/ctxd" }, "brew upgrade ctxd"],
  [
    "winget",
    { executable: "C:\\Users\\you\\AppData\\Local\\Microsoft\\WinGet\\Packages\\x\\ctxd.exe" },
    "winget upgrade ctxd",
  ],
  [
    "install.sh",
    { executable: "/home/you/bin/ctxd", files: BY_SCRIPT },
    "curl -fsSL https://github.com/Owner/ctxd/releases/latest/download/install.sh | sh",
  ],
  ["file", { executable: "/home/you/other/ctxd", files: BY_SCRIPT }, null],
  ["file", { executable: "/home/you/ctxd", files: { [NOTE]: "{" } }, null],
  ["file", { executable: "/home/you/ctxd", mark: "a later way" }, null],
];

test.each(CASES)("%s: %j is upgraded by %p", (way, place, command) => {
  expect(findInstallMethod(traces(place))).toBe(way);
  const advice = adviceFor(way, {
    executable: place.executable,
    repository: "https://github.com/Owner/ctxd",
    cpu: "arm64",
  });
  expect(advice.command).toBe(command);
});

test("a checkout is recognized whatever started it", () => {
  const inCheckout = { ...traces({ executable: "/usr/bin/bun", mark: "npm" }), isCheckout: true };
  expect(findInstallMethod(inCheckout)).toBe("checkout");
});
