/** The version of a release: three numbers. */
export const VERSION = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/;

/** Whether a version is newer than another one (Semantic Versioning 2.0.0, section 11). */
export function isNewer(version: string, than: string): boolean {
  return Bun.semver.order(version, than) > 0;
}
