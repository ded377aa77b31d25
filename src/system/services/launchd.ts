import { join } from "node:path";
import type { ServiceSystem } from "./service-system.ts";

const LABEL = "ctxd";

/** Agents of a user under macOS's launchd; see launchd.plist(5). */
export function launchd(home: string, uid: number): ServiceSystem {
  const path = join(home, "Library", "LaunchAgents", `${LABEL}.plist`);
  const domain = `gui/${uid}`;
  const bootOut = ["launchctl", "bootout", `${domain}/${LABEL}`];
  return {
    title: "launchd",
    path,
    describe: ({ command, env, logFile }) => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${Bun.escapeHTML(word)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(env)
  .map(
    ([name, value]) =>
      `    <key>${Bun.escapeHTML(name)}</key>\n    <string>${Bun.escapeHTML(value)}</string>\n`,
  )
  .join("")}  </dict>
  <key>Umask</key>
  <integer>63</integer>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>StandardErrorPath</key>
  <string>${Bun.escapeHTML(logFile)}</string>
</dict>
</plist>
`,
    // launchd uses a changed description only after a restart.
    replace: [bootOut],
    start: [["launchctl", "bootstrap", domain, path]],
    stop: [bootOut],
    isRunning: ["launchctl", "print", `${domain}/${LABEL}`],
    hints: [],
  };
}
