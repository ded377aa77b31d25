/** File name of the C++ runtime library on Linux, as other libraries request it. */
export const CXX_RUNTIME = "libstdc++.so.6";

/** A system and processor that ctxd can be built for. */
export interface Target {
  /** In the terms of Bun, npm and Node.js. */
  readonly os: "linux" | "darwin" | "win32";
  readonly cpu: "x64" | "arm64";
  /** Suffixes of the names of LanceDB's and the tokenizer's packages. */
  readonly lancedb: string;
  readonly tokenizers: string;
  /** File name of ONNX Runtime's library, as its addon requests it. */
  readonly runtime: string;
  /** Programs that can remove debug symbols from its libraries; none where that breaks a signature. */
  readonly strip: readonly string[];
  /** The oldest glibc that the executable and its libraries run with; null on systems without glibc. */
  readonly glibc: string | null;
  /** Where Debian's packages install the C++ runtime library; none when every system has one. */
  readonly cxx: readonly string[];
}

/**
 * All targets, by name. LanceDB and ONNX Runtime both publish native libraries for them on npm. Neither
 * does for Macs with an Intel processor (LanceDB since 0.23, ONNX Runtime since 1.24), and ONNX Runtime
 * does not for musl.
 */
export const TARGETS = {
  "linux-x64": {
    os: "linux",
    cpu: "x64",
    lancedb: "linux-x64-gnu",
    tokenizers: "linux-x64-gnu",
    runtime: "libonnxruntime.so.1",
    strip: ["x86_64-linux-gnu-strip", "llvm-strip"],
    glibc: "2.28",
    cxx: [`/usr/lib/x86_64-linux-gnu/${CXX_RUNTIME}`, `/usr/lib64/${CXX_RUNTIME}`],
  },
  "linux-arm64": {
    os: "linux",
    cpu: "arm64",
    lancedb: "linux-arm64-gnu",
    tokenizers: "linux-arm64-gnu",
    runtime: "libonnxruntime.so.1",
    strip: ["aarch64-linux-gnu-strip", "llvm-strip"],
    glibc: "2.28",
    cxx: [`/usr/lib/aarch64-linux-gnu/${CXX_RUNTIME}`, `/usr/aarch64-linux-gnu/lib/${CXX_RUNTIME}`],
  },
  "darwin-arm64": {
    os: "darwin",
    cpu: "arm64",
    lancedb: "darwin-arm64",
    tokenizers: "darwin-universal",
    runtime: "libonnxruntime.1.dylib",
    strip: [],
    glibc: null,
    cxx: [],
  },
  "windows-x64": {
    os: "win32",
    cpu: "x64",
    lancedb: "win32-x64-msvc",
    tokenizers: "win32-x64-msvc",
    runtime: "onnxruntime.dll",
    strip: [],
    glibc: null,
    cxx: [],
  },
} as const satisfies Record<string, Target>;

export type TargetName = keyof typeof TARGETS;

export const TARGET_NAMES = Object.keys(TARGETS) as TargetName[];

/**
 * Checks the name of a target that a person entered.
 * @throws Error with all valid names
 */
export function targetNamed(name: string): TargetName {
  const found = TARGET_NAMES.find((each) => each === name);
  if (found) return found;
  throw new Error(`ctxd can't be built for ${name}, only for ${TARGET_NAMES.join(", ")}.`);
}

/** File name of a target's executable among those of other targets. */
export function executableName(name: TargetName): string {
  return `ctxd-${name}${TARGETS[name].os === "win32" ? ".exe" : ""}`;
}

/** The name of this machine's target. There may be no target of that name. */
export function ownTargetName(): string {
  const { platform, arch } = process;
  return `${platform === "win32" ? "windows" : platform}-${arch}`;
}

/** Whether glibc version `a` is newer than `b`, such as `2.28` than `2.9`. */
export function isNewerGlibc(a: string, b: string): boolean {
  return a.localeCompare(b, "en", { numeric: true }) > 0;
}
