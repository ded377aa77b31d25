import { dlopen } from "bun:ffi";

/**
 * Forbids ONNX Runtime to report to its maker. From 1.29 on it keeps an identifier of the machine
 * and a database of events in the user's cache folder and uploads them, unless this variable is set
 * before it starts (https://github.com/microsoft/onnxruntime/pull/27379). Bun keeps `process.env`
 * to itself, so the C library is asked; call this from the main thread, before there are others.
 * @throws Error when the variable cannot be set: better no engine than one that talks
 */
export function disableTelemetry(): void {
  const library = process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6";
  const { symbols } = dlopen(library, {
    setenv: { args: ["cstring", "cstring", "int"], returns: "int" },
  });
  const set = symbols.setenv(cString("ORT_DISABLE_TELEMETRY"), cString("1"), 1);
  if (set !== 0) throw new Error("The telemetry of ONNX Runtime could not be turned off.");
}

function cString(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}
