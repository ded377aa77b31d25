import { dlopen, ptr } from "bun:ffi";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * Whether two sockets of one process can listen on the same port (SO_REUSEPORT). Windows has no such
 * option: its SO_REUSEADDR would let other programs use the port.
 */
export const CAN_SHARE_PORT = process.platform !== "win32";

const SOL_SOCKET = 1;
const SO_ATTACH_REUSEPORT_CBPF = 51;
/** One instruction of a classic BPF program: return 1. */
const RETURN_1 = { code: 0x06, k: 1 };

/**
 * Routes all new connections of a port to the newer of two listening sockets of this process (SO_REUSEPORT).
 * Without this, renewing a certificate resets connections: the system distributes them over both sockets, and
 * closing the older one resets those that it has not accepted. Call this once, when the first socket listens.
 * The BPF program stays with the port. Its result is the index of a socket, and without such a socket the
 * system chooses one (socket(7)). It works on Linux only; elsewhere, and on failure, it does nothing.
 * @returns whether the program was attached
 */
export function preferNewestListener(port: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    const { symbols } = dlopen("libc.so.6", {
      setsockopt: { args: ["int", "int", "int", "ptr", "u32"], returns: "int" },
    });
    // struct sock_filter { u16 code; u8 jt, jf; u32 k } and struct sock_fprog { u16 len; pointer }.
    const filter = new DataView(new ArrayBuffer(8));
    filter.setUint16(0, RETURN_1.code, true);
    filter.setUint32(4, RETURN_1.k, true);
    const program = new DataView(new ArrayBuffer(16));
    program.setUint16(0, 1, true);
    program.setBigUint64(8, BigInt(ptr(filter.buffer)), true);
    const attach = (fd: number) =>
      symbols.setsockopt(
        fd,
        SOL_SOCKET,
        SO_ATTACH_REUSEPORT_CBPF,
        ptr(program.buffer),
        program.byteLength,
      ) === 0;
    return listenersOn(port).map(attach).includes(true);
  } catch {
    return false;
  }
}

/** File descriptors of this process's sockets that listen on a port (proc(5)). */
function listenersOn(port: number): number[] {
  const LISTEN = "0A";
  const inodes = new Set(
    ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
      .flatMap((path) => readFileSync(path, "utf8").split("\n").slice(1))
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => {
        const [, hex = ""] = local?.split(":") ?? [];
        return state === LISTEN && Number.parseInt(hex, 16) === port;
      })
      .map((fields) => `socket:[${fields[9]}]`),
  );
  return readdirSync("/proc/self/fd")
    .filter((fd) => {
      try {
        return inodes.has(readlinkSync(`/proc/self/fd/${fd}`));
      } catch {
        // Closed since the folder was read.
        return false;
      }
    })
    .map(Number);
}
