/**
 * In the environment of a program that a test starts and that works for seconds: Bun's last compiler costs a tenth of the
 * processor time of replicas, and what it makes quicker ends before that has paid off. The tests do without it too (see
 * `test` in package.json): they take a twentieth to a sixth less.
 */
export const FOR_MOMENTS = { BUN_JSC_useFTLJIT: "0" } as const;
