import { dlopen } from "bun:ffi";

/**
 * Detaches from the console window that Windows opens for a program without one, such as a task at
 * log-in. Does nothing on other systems.
 */
export function leaveConsole(): void {
  if (process.platform !== "win32") return;
  dlopen("kernel32.dll", { FreeConsole: { args: [], returns: "int" } }).symbols.FreeConsole();
}
