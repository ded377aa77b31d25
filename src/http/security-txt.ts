import { Elysia } from "elysia";
import type { Config } from "../config/config.ts";

const PATH = "/.well-known/security.txt";
const DAY = 24 * 3_600_000;
/** Days for which the answer is valid: less than a year (RFC 9116, section 2.5.5). */
const DAYS = 90;

/**
 * Says where to report a vulnerability of this server (RFC 9116). Without a contact the path answers
 * 404. `clock` gives milliseconds since 1970.
 */
export function createSecurityTxt({
  config: { publicUrl, securityContact },
  clock,
}: {
  config: Pick<Config, "publicUrl" | "securityContact">;
  clock: () => number;
}) {
  const routes = new Elysia();
  if (securityContact === null) return routes;
  return routes.get(
    PATH,
    () => {
      // The same all day, so that caches and comparisons work.
      const expires = new Date((Math.floor(clock() / DAY) + DAYS) * DAY);
      const lines = [
        `Contact: ${securityContact}`,
        `Expires: ${expires.toISOString()}`,
        `Canonical: ${publicUrl}${PATH}`,
      ];
      return new Response(`${lines.join("\n")}\n`, {
        headers: {
          "content-type": "text/plain; charset=utf-8",
          "cache-control": "public, max-age=86400",
        },
      });
    },
    { detail: { hide: true } },
  );
}
