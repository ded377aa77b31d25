import { setNativeEnvironment } from "../system/c-library.ts";

/**
 * Forbids ONNX Runtime to report to its maker. From 1.29 on it keeps an identifier of the machine
 * and a database of events in the user's cache folder and uploads them, unless this variable is set
 * before it starts (https://github.com/microsoft/onnxruntime/pull/27379). To be called from the main
 * thread, before there are others.
 * @throws Error when the variable cannot be set: better no engine than one that talks
 */
export function disableTelemetry(): void {
  setNativeEnvironment("ORT_DISABLE_TELEMETRY", "1");
}
