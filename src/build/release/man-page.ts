import { createProgram } from "../../cli/program.ts";
import { SETTINGS } from "../../config/settings.ts";

type Command = Awaited<ReturnType<typeof createProgram>>;

/**
 * The manual page ctxd(1), generated from the commands and settings, with the macros of man(7).
 * @param date the date of the version, as YYYY-MM-DD
 */
export async function manPage(version: string, date: string): Promise<string> {
  const program = await createProgram({});
  // Commander has no other way to get the examples.
  const printed = (command: Command): string => {
    let text = "";
    command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
    return text;
  };
  const sections = [
    `.TH CTXD 1 "${date}" "ctxd ${version}" "User Commands"`,
    `.SH NAME\nctxd \\- ${roff(withoutArticle(program.description()))}`,
    ".SH SYNOPSIS\n.B ctxd\n.RI [ COMMAND ]\n.RI [ OPTIONS ]",
    `.SH DESCRIPTION\n${paragraphs(DESCRIPTION)}`,
    `.SH OPTIONS\n${optionsOf(program, program)}`,
    `.SH COMMANDS\n${commandsOf(program)
      .map(({ names, command }) => describe(program, names, command, printed(command)))
      .join("\n")}`,
    `.SH ENVIRONMENT\n${paragraphs("An option overrides the setting that it names.")}\n${settings()}`,
    `.SH FILES\n${FILES.map(([path, meaning]) => `.TP\n.I ${roff(path)}\n${roff(meaning)}`).join("\n")}`,
    ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage.",
    `.SH EXAMPLES\n${examplesIn(printed(program))}`,
    `.SH SEE ALSO\n${paragraphs("The dashboard of a running server has the help at /help and the API at /docs.")}`,
  ];
  return `${sections.join("\n")}\n`;
}

const DESCRIPTION = `ctxd stores pieces of text for a user account and finds them again by meaning. It contains the \
embedding model: no text leaves the machine.

Agents on the same machine need no server: ctxd connect sets them up. Without a command, ctxd runs \
the server.`;

const FILES = [
  ["~/.local/share/ctxd", "all data that must be kept (CTXD_DATA_DIR)"],
  ["~/.cache/ctxd", "the unpacked model and libraries, which can be removed (CTXD_CACHE_DIR)"],
] as const;

/** All commands that the help shows. A command with subcommands is replaced by them. */
function commandsOf(parent: Command, before: readonly string[] = []): Found[] {
  const shown = parent.createHelp().visibleCommands(parent);
  return parent.commands
    .filter((command) => shown.includes(command))
    .flatMap((command) => {
      const names = [...before, command.name()];
      const subcommands = commandsOf(command, names);
      return subcommands.length > 0 ? subcommands : [{ names, command }];
    });
}

interface Found {
  names: readonly string[];
  command: Command;
}

function describe(
  program: Command,
  names: readonly string[],
  command: Command,
  printed: string,
): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const meanings = command.registeredArguments
    .filter(({ description }) => description)
    .map((argument) => `.TP\n.I ${roff(argument.name())}\n${roff(argument.description)}`);
  const examples = examplesIn(printed);
  return [
    `.SS ${roff(["ctxd", ...names, ...words].join(" "))}`,
    paragraphs(command.description() || `${command.summary()}.`),
    ...meanings,
    optionsOf(program, command),
    examples && `.PP\n${examples}`,
  ]
    .filter((part) => part !== "")
    .join("\n");
}

/** The options of a command. `--help` is listed only once, for the program. */
function optionsOf(program: Command, command: Command): string {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => command === program || long !== "--help")
    .map((option) => {
      const choices = option.argChoices ? ` (${option.argChoices.join(", ")})` : "";
      return `.TP\n.B ${roff(option.flags)}\n${roff(option.description + choices)}`;
    })
    .join("\n");
}

function settings(): string {
  return Object.entries(SETTINGS)
    .map(([name, meaning]) => `.TP\n.B ${name}\n${roff(meaning)}`)
    .join("\n");
}

function examplesIn(help: string): string {
  const lines = /\nExamples?:\n((?: {2}.*\n?)+)/.exec(help)?.[1];
  return lines ? `.EX\n${roff(lines.trimEnd().replaceAll(/^ {2}/gm, ""))}\n.EE` : "";
}

function paragraphs(text: string): string {
  return text
    .split(/\n+/)
    .map((line) => roff(line))
    .join("\n.PP\n");
}

function withoutArticle(text: string): string {
  return text.replace(/^A /, "");
}

/** Escapes a text for roff, so that it contains no escapes and no requests. */
function roff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("~", "\\(ti")
    .replaceAll("^", "\\(ha")
    .replaceAll("`", "\\(ga")
    .replaceAll(/^(?=\.)/gm, "\\&");
}
