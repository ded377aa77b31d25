import { type Agents, connectAgents } from "./agents.ts";
import { type Failure, type Month, measureMonth } from "./measure.ts";
import { createRecallFigures, type RecallFault } from "./recalled.ts";
import { startYearServer, type YearServer } from "./server.ts";
import { createYear, type Session, WEEK, type Year } from "./talk.ts";

export interface RunOptions {
  seed: number;
  /** Sessions of a week, of all people. */
  perWeek: number;
  weeks: number;
  /** The file that keeps what was embedded; null for a fake model. */
  cache: string | null;
  /** What else is done in the year. */
  variant?: Variant;
  onMonth?: (month: Month) => void;
}

/** What people or their agents do besides talking. */
export interface Variant {
  /** After each session. */
  afterSession?: (session: Session, moment: YearMoment) => Promise<void>;
  /** At each month's end, before it is measured. */
  atMonthEnd?: (moment: YearMoment) => Promise<void>;
}

export interface YearMoment {
  server: YearServer;
  year: Year;
  agents: Agents;
}

export interface YearResult {
  months: Month[];
  failures: (Failure & { month: number })[];
  faults: (RecallFault & { month: number })[];
}

const WEEKS_OF_MONTH = 52 / 12;

/** Lives a year with a server, and measures it at each month's end. */
export async function runYear(options: RunOptions): Promise<YearResult> {
  const { seed, perWeek, weeks, variant = {}, onMonth = () => {} } = options;
  const server = await startYearServer(options.cache);
  const year = createYear({ seed, start: server.start, perWeek });
  const agents = await connectAgents(server, year);
  const moment = { server, year, agents };
  const result: YearResult = { months: [], failures: [], faults: [] };
  let recalled = createRecallFigures(year);
  try {
    for (let week = 0; week < weeks; week++) {
      for (const session of year.week(week)) {
        recalled.addSession(await agents.hold(session));
        await variant.afterSession?.(session, moment);
      }
      const month = result.months.length + 1;
      if (week + 1 < Math.round(month * WEEKS_OF_MONTH) && week + 1 < weeks) continue;
      await variant.atMonthEnd?.(moment);
      const now = server.start + (week + 1) * WEEK;
      const { figures, failures } = await measureMonth({
        ...moment,
        now,
        month,
        seed: seed + month,
      });
      const measured = { ...figures, ...recalled.at };
      result.months.push(measured);
      result.failures.push(...failures.map((one) => ({ ...one, month })));
      result.faults.push(...recalled.faults.map((one) => ({ ...one, month })));
      recalled = createRecallFigures(year);
      onMonth(measured);
    }
    return result;
  } finally {
    await agents.close();
    await server.close();
  }
}
