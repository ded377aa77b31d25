import { type Command, Option } from "commander";
import { TRANSCRIPT_AGENTS } from "../import/transcripts/folders.ts";
import type { Target } from "./api.ts";
import { examples } from "./examples.ts";
import type { Environment } from "./failure.ts";
import type { ImportChoice } from "./import.ts";
import type { Configure } from "./program.ts";
import { targetOptions } from "./target-options.ts";

/** As age's own documentation has it. */
const EXAMPLE_RECIPIENT = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";

export function addTransferCommands(
  program: Command,
  configure: Configure,
  env: Environment,
): void {
  const { user, url } = targetOptions;
  program
    .command("export")
    .argument("<file>", "where to; - is standard output")
    .summary("write all memories of an account to a file")
    .description(
      "Writes all memories of an account to a file, one a line as JSON, also while the server runs. It has everything that ctxd import needs to have them elsewhere just so.",
    )
    .addOption(user())
    .addOption(url())
    .addHelpText("after", examples("ctxd export memories.jsonl"))
    .action(async (file: string, options: Target) =>
      (await import("./export.ts")).exportTo(configure(), file, options, env),
    );
  program
    .command("import")
    .argument("[file...]", "files, a folder, or - for standard input")
    .summary("bring in memories from ctxd or from other programs")
    .description(
      `Brings in memories; what a file is, it finds out:
  an export of ctxd, mem0, Supermemory, Zep, Letta, agentmemory or mcp-memory-service
  the ZIP that ChatGPT or Claude sends: conversations and saved memories
  the file of the MCP memory server (JSON lines)
  what Claude Code, Codex and Gemini CLI keep of their sessions (by --from)
  a folder of Markdown notes, such as those of basic-memory or Obsidian
  a list copied from ChatGPT or Claude, a list in JSON, a table in CSV
  text and Markdown: each paragraph and list item is a memory; PDF: each page
What is there already stays: the same file again changes nothing, and goes on where it broke off.
Secrets such as API keys are masked. When nothing can be imported, it says why and ends with 1.`,
    )
    .addOption(user())
    .addOption(url())
    .addOption(
      new Option("--from <agent>", "all transcripts of an agent on this machine").choices(
        TRANSCRIPT_AGENTS,
      ),
    )
    .option("--preview", "show the first memories and what would be done, and change nothing")
    .option("--dry-run", "only tell what would be done")
    .option("--project <name>", "project of what does not name its own")
    .addHelpText(
      "after",
      examples(
        "ctxd import ~/Downloads/chatgpt-export.zip --preview",
        "ctxd import --from claude-code --preview",
        "ctxd import ~/notes --project atlas",
        "ctxd import memories.jsonl",
      ),
    )
    .action(async (files: string[], options: ImportChoice) =>
      (await import("./import.ts")).importFrom(configure(), files, options, env),
    );
}

export function addBackupCommands(program: Command, configure: Configure, env: Environment): void {
  program
    .command("backup")
    .argument("<folder>", "a new or empty folder, best on another disk")
    .summary("copy all data, also while the server runs")
    .description(
      "Copies everything in the data folder as it is at one moment, also while the server runs. Every file is checksummed and on the disk when this ends; without backup.json it is no backup. Keep it as safe as the data: it holds all memories. Encrypted, it can be kept anywhere, in the format of age (age-encryption.org).",
    )
    .addOption(
      new Option(
        "--encrypt [recipient]",
        "encrypt to a recipient (age1..., repeatable); without one to a passphrase that is asked for, or is one line of standard input",
      ).argParser((value: string, before: readonly string[] | undefined) => [
        ...(before ?? []),
        value,
      ]),
    )
    .addHelpText(
      "after",
      examples(
        "ctxd backup /mnt/usb/ctxd-2027-01-31",
        "ctxd backup /mnt/usb/ctxd-2027-01-31 --encrypt",
        `ctxd backup /mnt/usb/ctxd-2027-01-31 --encrypt ${EXAMPLE_RECIPIENT}`,
      ),
    )
    .action(async (folder: string, { encrypt }: { encrypt?: readonly string[] | true }) =>
      (await import("./backup.ts")).backUp(configure(), folder, {
        encrypt: encrypt === undefined ? null : [encrypt].flat(),
      }),
    );
  program
    .command("restore")
    .argument("<folder>", "what ctxd backup made")
    .summary("put a backup into an empty data folder")
    .description(
      "Puts a backup into the data folder, which must have no data yet and no server. Every checksum is compared before the first byte is written. Sessions, invitations and the tokens of apps end: people sign in again, and apps ask again. Passwords and API keys are those of the backup, with keys that were revoked later.",
    )
    .option("--identity <file>", "what opens a backup that was encrypted to a recipient")
    .option("--revoke-keys", "end all API keys too, and what was allowed to apps")
    .addHelpText(
      "after",
      examples(
        "ctxd restore /mnt/usb/ctxd-2027-01-31 --data-dir ~/ctxd-restored",
        "ctxd restore /mnt/usb/ctxd-2027-01-31 --data-dir ~/ctxd-restored --identity key.txt",
      ),
    )
    .action(async (folder: string, options: { revokeKeys?: boolean; identity?: string }) =>
      (await import("./restore.ts")).restore(configure(), folder, options, env),
    );
}
