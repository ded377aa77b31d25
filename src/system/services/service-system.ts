/** A program that the operating system runs for a person from log-in on. */
interface Service {
  /** The program with its arguments. */
  readonly command: readonly string[];
  /** The program's settings, as environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The file that receives standard error, on systems without a log of their own. */
  readonly logFile: string;
}

/** The way in which an operating system runs services of a person. */
export interface ServiceSystem {
  readonly title: string;
  /** Path of the file that describes the service. */
  readonly path: string;
  describe(service: Service): string;
  /** Encoding of that file if it is not UTF-8; the file then begins with a byte order mark. */
  readonly encoding?: "utf16le";
  /**
   * The file in which ctxd keeps the settings, on a system whose services have no environment variables.
   * The service is then started as `ctxd service run FILE`.
   */
  readonly settingsPath?: string;
  /** Commands that run before the description is replaced; they may fail. */
  readonly replace: readonly (readonly string[])[];
  /** Commands that run after the description is written, to start the service now and at log-in. */
  readonly start: readonly (readonly string[])[];
  /** Commands that run before the description is removed; they may fail. */
  readonly stop: readonly (readonly string[])[];
  /** A command with exit code 0 if the service runs. */
  readonly isRunning: readonly string[];
  /** Hints for the person, such as the command that shows the log. */
  readonly hints: readonly string[];
}
