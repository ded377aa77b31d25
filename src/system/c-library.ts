import { dlopen } from "bun:ffi";

/**
 * Sets an environment variable for native libraries, which do not see changes of `process.env` in Bun.
 * Call it from the main thread before other threads start.
 * @throws Error when it cannot be set
 */
export function setNativeEnvironment(name: string, value: string): void {
  if (setVariable(cString(name), cString(value)) !== 0) {
    throw new Error(`The environment variable ${name} could not be set.`);
  }
}

function setVariable(name: Uint8Array, value: Uint8Array): number {
  if (process.platform === "win32") {
    // The C library that the native libraries share. It also sets the variable of the process.
    const { symbols } = dlopen("ucrtbase.dll", {
      _putenv_s: { args: ["cstring", "cstring"], returns: "int" },
    });
    return symbols._putenv_s(name, value);
  }
  const { symbols } = dlopen(process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6", {
    setenv: { args: ["cstring", "cstring", "int"], returns: "int" },
  });
  return symbols.setenv(name, value, 1);
}

/**
 * Creates a function that returns freed memory to the system, in about 10 ms. glibc keeps fragmented
 * memory otherwise. Other C libraries neither have nor need such a function.
 */
export function createHeapTrimmer(): () => void {
  if (process.platform !== "linux") return () => {};
  const { symbols } = dlopen("libc.so.6", { malloc_trim: { args: ["usize"], returns: "int" } });
  return () => {
    symbols.malloc_trim(0);
  };
}

const M_ARENA_MAX = -8;

/**
 * Limits the heaps that all threads share. By default glibc uses eight for each processor, and every heap
 * keeps the memory that its threads once needed. Measured on two processors: 120 MB less, nothing slower.
 */
export function limitHeaps(heaps: number): void {
  if (process.platform !== "linux") return;
  const { symbols } = dlopen("libc.so.6", { mallopt: { args: ["int", "int"], returns: "int" } });
  symbols.mallopt(M_ARENA_MAX, heaps);
}

/**
 * Detaches from the console window that Windows opens for a program without one, such as a task at
 * log-in. Does nothing on other systems.
 */
export function leaveConsole(): void {
  if (process.platform !== "win32") return;
  dlopen("kernel32.dll", { FreeConsole: { args: [], returns: "int" } }).symbols.FreeConsole();
}

function cString(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}
