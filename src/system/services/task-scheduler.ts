import { win32 } from "node:path";
import { escapeXml } from "./escape-xml.ts";
import type { ServiceSystem } from "./service-system.ts";

const TASK = "ctxd";

/**
 * A task at log-in under Windows' Task Scheduler, which needs no administrator, as a service of Windows
 * would. Written from its documentation (https://learn.microsoft.com/windows/win32/taskschd/task-scheduler-schema).
 * @param folder for its files: `%APPDATA%\ctxd`
 * @param user as `DOMAIN\NAME`
 */
export function taskScheduler(folder: string, user: string): ServiceSystem {
  const path = win32.join(folder, "service.xml");
  return {
    title: "Task Scheduler",
    path,
    // As Windows exports tasks itself.
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
      <UserId>${escapeXml(user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${escapeXml(user)}</UserId>
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
      <Command>${escapeXml(quoteArgument(program))}</Command>
      <Arguments>${escapeXml(words.map(quoteArgument).join(" "))}</Arguments>
    </Exec>
  </Actions>
</Task>
`,
    // Ended by force: nothing that was answered is lost by that.
    replace: [schtasks("/End")],
    start: [["schtasks", "/Create", "/TN", TASK, "/XML", path, "/F"], schtasks("/Run")],
    stop: [schtasks("/End"), [...schtasks("/Delete"), "/F"]],
    // Its own answer is in the language of the system.
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
 * An argument as Windows' programs take a command line apart
 * (https://learn.microsoft.com/windows/win32/api/shellapi/nf-shellapi-commandlinetoargvw).
 */
export function quoteArgument(word: string): string {
  if (/^[^\s"]+$/.test(word)) return word;
  // Backslashes count as themselves, but for those before a quotation mark.
  return `"${word.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
}
