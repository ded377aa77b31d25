import { dlopen } from "bun:ffi";

/**
 * Lets go of the console window that Windows opens for a program without one, such as a task at
 * log-in. Other systems have none.
 */
export function leaveConsole(): void {
  if (process.platform !== "win32") return;
  dlopen("kernel32.dll", { FreeConsole: { args: [], returns: "int" } }).symbols.FreeConsole();
}
