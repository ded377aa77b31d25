import { createSecurityLog, type SecurityLog } from "../../src/security-log/security-log.ts";
import { afterThisTest } from "./database.ts";

/** A security log that is closed after the test, before its database: nothing is written later. */
export function testSecurityLog(parts: Parameters<typeof createSecurityLog>[0]): SecurityLog {
  const securityLog = createSecurityLog(parts);
  afterThisTest(securityLog.close);
  return securityLog;
}
