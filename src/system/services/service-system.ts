/** What an operating system is told to run for a person, from its log-in on. */
export interface Service {
  /** The program with its arguments. */
  readonly command: readonly string[];
  /** Settings that the program is to have. */
  readonly env: Readonly<Record<string, string>>;
  /** A file that takes what it says on standard error, where the system keeps no log of it. */
  readonly logFile: string;
}

/** How an operating system runs services of a person. */
export interface ServiceSystem {
  readonly title: string;
  /** Where the description of the service is. */
  readonly path: string;
  describe(service: Service): string;
  /** How the description is written, where it is not UTF-8; a mark stands before it then. */
  readonly encoding?: "utf16le";
  /**
   * Where the program itself keeps the settings, on a system whose services have no environment of
   * their own: it is started as `ctxd service run FILE`.
   */
  readonly settingsPath?: string;
  /** What is run before a description is replaced; none of it needs to succeed. */
  readonly replace: readonly (readonly string[])[];
  /** What is run when the description is there, so that the service starts now and at log-in. */
  readonly start: readonly (readonly string[])[];
  /** What is run before the description is removed; none of it needs to succeed. */
  readonly stop: readonly (readonly string[])[];
  /** What ends with 0 if the service runs. */
  readonly isRunning: readonly string[];
  /** How a person sees what it says, and what else is good to know. */
  readonly hints: readonly string[];
}
