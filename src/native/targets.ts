/** The C++ runtime library of Linux, by the name that libraries ask for it. */
export const CXX_RUNTIME = "libstdc++.so.6";

/** A system and processor that there is an executable for. */
export interface Target {
  /** As Bun, npm and Node.js name systems and processors. */
  readonly os: "linux" | "darwin" | "win32";
  readonly cpu: "x64" | "arm64";
  /** The end of the names of LanceDB's and of the tokenizer's packages. */
  readonly lancedb: string;
  readonly tokenizers: string;
  /** ONNX Runtime's own library. Its addon asks for it by this name. */
  readonly runtime: string;
  /** Programs that can remove symbols from its libraries; none where a signature would break. */
  readonly strip: readonly string[];
  /** The oldest glibc that has all symbols which its executable and libraries ask for; null without glibc. */
  readonly glibc: string | null;
  /** Where Debian's packages have the C++ runtime library; none where each system has one. */
  readonly cxx: readonly string[];
}

/**
 * What an executable can be built for, by name: where LanceDB and ONNX Runtime both have a native part
 * on npm. They have none for Macs with an Intel processor (LanceDB since 0.23, ONNX Runtime
 * since 1.24), and ONNX Runtime has none for musl.
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
 * The target of a name that a person gave.
 * @throws Error with the names that there are
 */
export function targetNamed(name: string): TargetName {
  const found = TARGET_NAMES.find((each) => each === name);
  if (found) return found;
  throw new Error(`ctxd can't be built for ${name}, only for ${TARGET_NAMES.join(", ")}.`);
}

/** What a target's executable is called where there are several. */
export function executableName(name: TargetName): string {
  return `ctxd-${name}${TARGETS[name].os === "win32" ? ".exe" : ""}`;
}

/** The target that this machine is; by its name, which no target may have. */
export function ownTargetName(): string {
  const { platform, arch } = process;
  return `${platform === "win32" ? "windows" : platform}-${arch}`;
}
