import { checkPassword } from "../../../accounts/new-password.ts";
import { CommandError } from "../../command-error.ts";
import { askHidden, isInteractive, readLine } from "../../terminal.ts";

/** Asks twice for a new password, or reads it as one line of standard input. */
export async function readNewPassword(email: string): Promise<string> {
  if (!isInteractive()) return await readLine();
  const password = await askHidden("Password (at least 8 characters): ");
  checkPassword(password, email);
  if ((await askHidden("Repeat it: ")) === password) return password;
  throw new CommandError("The two passwords differ; nothing was changed.");
}
