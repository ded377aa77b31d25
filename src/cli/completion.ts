import { Argument, type Command } from "commander";
import { examples } from "./examples.ts";
import { print } from "./terminal.ts";

/** Shells that `ctxd completion` knows, each with what it reads to ask this program for words. */
export const COMPLETIONS = {
  bash: `_ctxd() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _ctxd ctxd
`,
  zsh: `#compdef ctxd
_ctxd() {
  local -a found
  found=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
# As a file of its own, it is read when something is to be completed for the first time.
if [[ "\${funcstack[1]}" == _ctxd ]]; then _ctxd "$@"; else compdef _ctxd ctxd; fi
`,
  fish: `function __ctxd_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  $before[1] complete -- $before[2..-1] "$current" 2>/dev/null
end
complete -c ctxd -a '(__ctxd_complete)'
`,
} as const;

/** The command that prints a script for a shell, and the one that the script asks. */
export function addCompletion(program: Command): void {
  const shell = new Argument("<shell>").choices(Object.keys(COMPLETIONS));
  program
    .command("completion")
    .addArgument(shell)
    .summary("let a shell complete commands and options")
    .description("Prints what a shell has to read so that the tab key completes ctxd's commands.")
    .addHelpText(
      "after",
      examples(
        'eval "$(ctxd completion bash)"    # in ~/.bashrc',
        'eval "$(ctxd completion zsh)"     # in ~/.zshrc, after compinit',
        "ctxd completion fish | source     # in ~/.config/fish/config.fish",
      ),
    )
    .action((name: keyof typeof COMPLETIONS) => print(COMPLETIONS[name].trimEnd()));
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .allowUnknownOption()
    .action((words: string[]) => print(complete(program, words).join("\n")));
}

/**
 * Words that may stand where the cursor is.
 * @param words those after the program's name; the last one is being typed, and may be empty
 */
export function complete(program: Command, words: readonly string[]): string[] {
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  let command = program;
  for (const word of before) {
    command = command.commands.find((each) => isCalled(each, word)) ?? command;
  }
  const found = candidates(program, command, before.at(-1) ?? "", typed);
  return found.filter((word) => word.startsWith(typed));
}

/** Whether a word is the name of a command, or another name that it has. */
export function isCalled(command: Command, word: string): boolean {
  return command.name() === word || command.aliases().includes(word);
}

function candidates(program: Command, command: Command, last: string, typed: string): string[] {
  // What help shows, of this command and of all.
  const help = program.createHelp();
  const all = [...help.visibleOptions(command), ...help.visibleOptions(program)];
  const option = all.find(({ short, long }) => last !== "" && [short, long].includes(last));
  if (option && (option.required || option.optional)) return [...(option.argChoices ?? [])];
  if (typed.startsWith("-")) return [...new Set(all.flatMap(({ long }) => long ?? []))];
  const names = help.visibleCommands(command).flatMap((each) => [each.name(), ...each.aliases()]);
  return [...names, ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)];
}
