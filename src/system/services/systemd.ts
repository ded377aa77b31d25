import { isAbsolute, join } from "node:path";
import type { ServiceSystem } from "./service-system.ts";

const UNIT = "ctxd.service";

/** Services of a user under systemd; see systemd.service(5) and systemd.exec(5). */
export function systemd(home: string, configHome: string | undefined): ServiceSystem {
  const config = configHome && isAbsolute(configHome) ? configHome : join(home, ".config");
  const systemctl = (...args: string[]) => ["systemctl", "--user", ...args];
  return {
    title: "systemd",
    path: join(config, "systemd", "user", UNIT),
    describe: ({ command, env }) => `[Unit]
Description=ctxd, a memory for AI agents

[Service]
ExecStart=${command.map((word) => quote(word).replaceAll("$", "$$$$")).join(" ")}
${Object.entries(env)
  .map(([name, value]) => `Environment=${quote(`${name}=${value}`)}\n`)
  .join("")}Restart=on-failure
RestartSec=5
UMask=0077
NoNewPrivileges=true

[Install]
WantedBy=default.target
`,
    replace: [],
    start: [
      systemctl("daemon-reload"),
      systemctl("enable", "--now", UNIT),
      systemctl("restart", UNIT),
    ],
    stop: [systemctl("disable", "--now", UNIT)],
    isRunning: systemctl("is-active", "--quiet", UNIT),
    hints: [
      `Its log: journalctl --user -u ${UNIT}`,
      "To have it run while you are not logged in: loginctl enable-linger",
    ],
  };
}

/** Quotes a word for systemd: with its escapes, and with `%` doubled because it begins a specifier. */
function quote(word: string): string {
  const escaped = word
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("%", "%%");
  return `"${escaped}"`;
}
