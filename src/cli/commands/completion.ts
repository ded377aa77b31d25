import { Argument, type Command } from "commander";
import { COMPLETION_SCRIPTS } from "../completion-scripts.ts";
import { type Context, examples, isCalled } from "../context.ts";
import { print } from "../terminal.ts";

/** Adds the command that prints a script for a shell, and the one that the script calls. */
export function define(program: Command, context: Context): void {
  const shell = new Argument("<shell>").choices(Object.keys(COMPLETION_SCRIPTS));
  program
    .command("completion")
    .addArgument(shell)
    .summary("let a shell complete commands and options")
    .description("Prints a script for a shell. With it, the tab key completes ctxd's commands.")
    .addHelpText(
      "after",
      examples(
        'eval "$(ctxd completion bash)"    # in ~/.bashrc',
        'eval "$(ctxd completion zsh)"     # in ~/.zshrc, after compinit',
        "ctxd completion fish | source     # in ~/.config/fish/config.fish",
      ),
    )
    .action((name: keyof typeof COMPLETION_SCRIPTS) => print(COMPLETION_SCRIPTS[name].trimEnd()));
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .allowUnknownOption()
    .action(async (words: string[]) => print((await complete(program, words, context)).join("\n")));
}

/**
 * The words that may stand at the cursor.
 * @param words the words after the program's name; the last one is being typed, and may be empty
 */
async function complete(
  program: Command,
  words: readonly string[],
  { names, load }: Pick<Context, "names" | "load">,
): Promise<string[]> {
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  let command = program;
  for (const word of before) {
    if (command === program) await load(word);
    command = command.commands.find((each) => isCalled(each, word)) ?? command;
  }
  const found = candidates({ program, names, command }, before.at(-1) ?? "", typed);
  return found.filter((word) => word.startsWith(typed));
}

/** @param last the word before the cursor, which may be an option that takes a value */
function candidates(
  { program, names, command }: { program: Command; names: readonly string[]; command: Command },
  last: string,
  typed: string,
): string[] {
  const help = program.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleOptions(program)];
  const option = options.find(({ short, long }) => last !== "" && [short, long].includes(last));
  if (option && (option.required || option.optional)) return [...(option.argChoices ?? [])];
  if (typed.startsWith("-")) return [...new Set(options.flatMap(({ long }) => long ?? []))];
  if (command === program) return [...names, "help"];
  const below = help.visibleCommands(command).flatMap((each) => [each.name(), ...each.aliases()]);
  return [...below, ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)];
}
