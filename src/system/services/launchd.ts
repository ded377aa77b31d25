import { join } from "node:path";
import { escapeXml } from "./escape-xml.ts";
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
${command.map((word) => `    <string>${escapeXml(word)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(env)
  .map(
    ([name, value]) =>
      `    <key>${escapeXml(name)}</key>\n    <string>${escapeXml(value)}</string>\n`,
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
  <string>${escapeXml(logFile)}</string>
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
