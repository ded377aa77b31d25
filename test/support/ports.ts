import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** TCP ports on which a process listens. Linux only. */
export function listeningPorts(pid: number): number[] {
  const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(pid, fd)));
  return ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .flatMap((line) => {
        const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
        const isListening = state === "0A" && sockets.has(`socket:[${inode}]`);
        return isListening ? [Number.parseInt(local.split(":")[1] ?? "", 16)] : [];
      }),
  );
}

function targetOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    // It was closed in the meantime.
    return "";
  }
}
