/** Whether an address is for programs of the server's own machine alone. */
export function isLocal(publicUrl: string): boolean {
  return /^(localhost$|127\.|\[::1\])/.test(new URL(publicUrl).hostname);
}
