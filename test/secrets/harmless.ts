import { join } from "node:path";
import { Glob } from "bun";
import { readFacts, readNotes } from "../eval/own-sets.ts";
import { createChars } from "./samples.ts";

const ROOT = join(import.meta.dir, "../..");
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const HEX = `${DIGITS}abcdef`;
const BASE64 = `${LOWER}${LOWER.toUpperCase()}${DIGITS}+/`;

/** Texts with random-looking parts but without secrets. */
function made(seed: number): string[] {
  const { of, random } = createChars(seed);
  const hex = (length: number) => of(HEX, length);
  const uuid = () => [8, 4, 4, 4, 12].map(hex).join("-");
  const number = (most: number) => 1 + random.below(most);
  const base64 = (length: number) => of(BASE64, length);
  return [
    `The fix is in commit ${hex(40)}, cherry-picked as ${hex(7)}.`,
    `sha256:${hex(64)}  ctxd-linux-x64.tar.gz`,
    `md5 ${hex(32)} dump.sql`,
    `Order ${uuid()} was sent on Monday.`,
    `session_id: ${uuid()}`,
    `trace_id=${hex(32)} span_id=${hex(16)}`,
    `mem_${hex(32)} supersedes mem_${hex(32)}`,
    `The key with id key_${hex(32)} was revoked yesterday.`,
    `"integrity": "sha512-${base64(86)}=="`,
    `image: ghcr.io/acme/shop@sha256:${hex(64)}`,
    `ETag: "${hex(32)}"`,
    `data:image/png;base64,${base64(200)}=`,
    `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${base64(43)} ada@laptop`,
    `ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ${base64(340)} build`,
    `SHA256:${base64(43)} is the fingerprint of the host key`,
    `-----BEGIN PUBLIC KEY-----\n${base64(64)}\n${base64(64)}\n-----END PUBLIC KEY-----`,
    `-----BEGIN CERTIFICATE-----\n${base64(64)}\n${base64(64)}\n-----END CERTIFICATE-----`,
    `https://example.com/orders/${uuid()}?page=${number(9)}&sort=created`,
    `https://cdn.example.com/assets/app.${hex(20)}.js`,
    `http://localhost:${number(9999)}/users/@me`,
    `git@github.com:acme/shop-${of(LOWER, 5)}.git`,
    `postgres://app:$DB_PASSWORD@db.example.com/app`,
    `postgres://postgres:postgres@localhost:5432/test_${number(99)}`,
    `https://user:password@example.com is the form of an address with a password`,
    `2026-${10 + number(2)}-${10 + number(18)}T08:${10 + number(49)}:00.${number(999)}Z request ${uuid()} took ${number(900)} ms`,
    `const key = cache.keyOf("${of(LOWER, 8)}", ${number(99)});`,
    `const token = tokens[${number(9)}] ?? await readToken(stream);`,
    `password: z.string().min(${number(12)}),`,
    `password = hash(input.password, salt${number(9)})`,
    `if (!isValid(req.body.password)) return reply(40${number(4)});`,
    `PASSWORD="\${DB_PASSWORD:?is needed}"`,
    `OPENAI_API_KEY=your-api-key-here`,
    `api_key: "<YOUR_API_KEY>"`,
    `API_TOKEN=\${{ secrets.API_TOKEN_${number(9)} }}`,
    `The API key is in 1Password, entry "shop ${of(LOWER, 6)}".`,
    `The token is valid for ${number(90)} days and then renewed by cron.`,
    `Passwords must have at least ${number(9) + 8} characters and one digit.`,
    `The password is rotated every ${number(90)} days.`,
    `Tokens: ${number(4000)} in, ${number(900)} out, cost $0.${number(99)}`,
    `max_tokens=${number(9000)}, temperature=0.${number(9)}, top_p=0.9${number(9)}`,
    `primary key (${of(LOWER, 6)}_id, created_at)`,
    `foreign_key: orders_${of(LOWER, 8)}_fkey_${number(99)}`,
    `Ada's phone is +49 30 ${of(DIGITS, 7)}, room ${number(400)}.`,
    `IBAN DE${of(DIGITS, 20)} for the rent`,
    `Version 1.${number(40)}.${number(9)}-rc.${number(4)}+build.${hex(7)}`,
    `MAC ${Array.from({ length: 6 }, () => hex(2)).join(":")}, IPv6 fe80::${hex(4)}:${hex(4)}`,
    `Ethereum address 0x${hex(40)} of the contract`,
    `block ${hex(64)} at height ${number(900_000)}`,
    `color: #${hex(6)}; box-shadow: 0 ${number(4)}px #${hex(8)};`,
    `kubectl logs shop-${hex(10)}-${of(LOWER + DIGITS, 5)} -n prod`,
    `arn:aws:iam::${of(DIGITS, 12)}:role/deploy-${of(LOWER, 6)}`,
    `s3://acme-backups/2026/${hex(8)}/db-${number(99)}.dump.gz`,
    `AIC 3Q${number(9)}, flight LH${number(999)}, seat ${number(40)}C, booking ${of(LOWER, 6).toUpperCase()}`,
    `npm_config_cache=/tmp/npm-${hex(8)}`,
    `Test keys of Stripe begin with sk_test_ and live ones with sk_live_.`,
    `The header is Authorization: Bearer TOKEN, with the token of the app.`,
    `row ${number(999)}: ${hex(16)}|${hex(16)}|${number(99)}`,
    `export const KEY_LENGTH = ${number(64)}; // bytes`,
    `Keyboard: QWERTZ, layout de_nodeadkeys_${number(9)}`,
    `author: "Ada", authored ${number(28)} May, auth by SSO since ${2000 + number(26)}`,
  ];
}

/** At least 1,000 harmless texts: generated ones, and prose and code of this repository. */
export async function harmless(): Promise<string[]> {
  const texts = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].flatMap(made);
  for (const { memories } of [await readFacts(), await readNotes()]) {
    texts.push(...memories.map(({ content }) => content));
  }
  for (const pattern of ["src/{help,docs}/*.md", "src/{keys,oauth,sign-in,mcp}/**/*.ts"]) {
    for (const path of [...new Glob(pattern).scanSync(ROOT)].sort()) {
      const text = await Bun.file(join(ROOT, path)).text();
      texts.push(...text.split(/\n\n+/).filter((part) => part.length > 40));
    }
  }
  return texts;
}
