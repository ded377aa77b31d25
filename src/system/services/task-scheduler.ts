import { win32 } from "node:path";
import type { ServiceSystem } from "./service-system.ts";

const TASK = "ctxd";

/**
 * A task at log-in under Windows' Task Scheduler. Unlike a Windows service it needs no administrator.
 * Format: (https://learn.microsoft.com/windows/win32/taskschd/task-scheduler-schema).
 * @param folder for its files: `%APPDATA%\ctxd`
 * @param user as `DOMAIN\NAME`
 */
export function taskScheduler(folder: string, user: string): ServiceSystem {
  const path = win32.join(folder, "service.xml");
  return {
    title: "Task Scheduler",
    path,
    // The encoding that Windows itself uses for exported tasks.
    encoding: "utf16le",
    settingsPath: win32.join(folder, "service.json"),
    describe: ({ command: [program = "", ...words] }) => `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>ctxd, a memory for AI agents</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${Bun.escapeHTML(user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${Bun.escapeHTML(user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>5</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${Bun.escapeHTML(quoteArgument(program))}</Command>
      <Arguments>${Bun.escapeHTML(words.map(quoteArgument).join(" "))}</Arguments>
    </Exec>
  </Actions>
</Task>
`,
    // This kills the server. No acknowledged write is lost: all of them are on the disk.
    replace: [schtasks("/End")],
    start: [["schtasks", "/Create", "/TN", TASK, "/XML", path, "/F"], schtasks("/Run")],
    stop: [schtasks("/End"), [...schtasks("/Delete"), "/F"]],
    // schtasks answers in the language of the system, so PowerShell is used.
    isRunning: [
      "powershell",
      "-NoProfile",
      "-NonInteractive",
      "-Command",
      `if ((Get-ScheduledTask -TaskName ${TASK} -ErrorAction Stop).State -ne 'Running') { exit 1 }`,
    ],
    hints: [],
  };
}

function schtasks(verb: string): string[] {
  return ["schtasks", verb, "/TN", TASK];
}

/**
 * Quotes an argument by the rules with which Windows programs split a command line
 * (https://learn.microsoft.com/windows/win32/api/shellapi/nf-shellapi-commandlinetoargvw).
 */
export function quoteArgument(word: string): string {
  if (/^[^\s"]+$/.test(word)) return word;
  // Backslashes are literal except before a quotation mark.
  return `"${word.replaceAll(/(?<!\\)(\\*)"/g, '$1$1\\"').replace(/(?<!\\)(\\+)$/, "$1$1")}"`;
}
