/**
 * In the environment of a program that a test starts and that works for seconds: Bun's last compiler, which takes as much processor
 * time as the rest of the program does in such a time, does not pay off before it ends. The tests run without it too (see
 * package.json).
 */
export const FOR_MOMENTS = { BUN_JSC_useFTLJIT: "0" } as const;
