import { generateKey } from "../../src/keys/new-key.ts";
import { createRandom } from "../support/random.ts";

/** A generated secret in a text. This file contains none, because a scan of the repository would report it. */
export interface Sample {
  name: string;
  secret: string;
  text: string;
}

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const HEX = `${DIGITS}abcdef`;
const UPPER = LOWER.toUpperCase();
const ALNUM = LOWER + UPPER + DIGITS;
const URL64 = `${ALNUM}-_`;
const BASE64 = `${ALNUM}+/`;
const BASE32 = `${UPPER}234567`;

export function createChars(seed: number) {
  const random = createRandom(seed);
  const pick = (from: string) => from[random.below(from.length)] ?? "";
  const of = (from: string, length: number) => Array.from({ length }, () => pick(from)).join("");
  return { random, of };
}

/** Secrets with a recognizable form, by name. */
export function shaped(seed: number): Record<string, string> {
  const { of } = createChars(seed);
  const hex = (length: number) => of(HEX, length);
  const alnum = (length: number) => of(ALNUM, length);
  const url = (length: number) => of(URL64, length - 2) + of(ALNUM, 2);
  const upper = (length: number) => of(UPPER + DIGITS, length);
  const jwtPart = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const pem = (label: string) =>
    `-----BEGIN ${label}-----\n${Array.from({ length: 8 }, () => of(BASE64, 64)).join("\n")}\n-----END ${label}-----`;
  return {
    "ctxd key": generateKey(),
    "Anthropic key": `sk-ant-api03-${url(93)}AA`,
    "Anthropic OAuth token": `sk-ant-oat01-${url(86)}`,
    "OpenAI key": `sk-${alnum(20)}T3BlbkFJ${alnum(20)}`,
    "OpenAI project key": `sk-proj-${url(74)}T3BlbkFJ${url(74)}`,
    "OpenAI service key": `sk-svcacct-${url(58)}T3BlbkFJ${url(58)}`,
    "OpenRouter key": `sk-or-v1-${hex(64)}`,
    "DeepSeek key": `sk-${hex(32)}`,
    "Groq key": `gsk_${alnum(52)}`,
    "xAI key": `xai-${alnum(80)}`,
    "Perplexity key": `pplx-${alnum(48)}`,
    "Replicate token": `r8_${alnum(37)}`,
    "Hugging Face token": `hf_${alnum(34)}`,
    "LangSmith key": `lsv2_pt_${hex(32)}_${hex(10)}`,
    "Tavily key": `tvly-dev-${alnum(32)}`,
    "Firecrawl key": `fc-${hex(32)}`,
    "Pinecone key": `pcsk_${alnum(6)}_${alnum(63)}`,
    "ElevenLabs key": `sk_${hex(48)}`,
    "Langfuse key": `sk-lf-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`,
    "GitHub token": `ghp_${alnum(36)}`,
    "GitHub OAuth token": `gho_${alnum(36)}`,
    "GitHub server token": `ghs_${alnum(36)}`,
    "GitHub refresh token": `ghr_${alnum(36)}`,
    "GitHub fine-grained token": `github_pat_${alnum(22)}_${alnum(59)}`,
    "GitLab token": `glpat-${url(20)}`,
    "GitLab routable token": `glpat-${url(40)}.${of(LOWER + DIGITS, 9)}`,
    "GitLab deploy token": `gldt-${url(20)}`,
    "GitLab runner token": `glrt-${url(20)}`,
    "AWS access key": `AKIA${of(BASE32, 16)}`,
    "AWS session key": `ASIA${of(BASE32, 16)}`,
    "Google API key": `AIza${url(35)}`,
    "Google client secret": `GOCSPX-${url(28)}`,
    "Google access token": `ya29.${url(120)}`,
    "Google refresh token": `1//0${url(60)}`,
    "Azure client secret": `${alnum(3)}8Q~${alnum(34)}`,
    "DigitalOcean token": `dop_v1_${hex(64)}`,
    "Heroku key": `HRKU-AA${url(58)}`,
    "Cloudflare token": `cfut_${alnum(40)}${hex(8)}`,
    "Cloudflare origin key": `v1.0-${hex(24)}-${hex(146)}`,
    "Vercel token": `vcp_${alnum(40)}`,
    "Supabase token": `sbp_${hex(40)}`,
    "Supabase secret key": `sb_secret_${url(31)}`,
    "Neon key": `napi_${of(LOWER + DIGITS, 64)}`,
    "Render key": `rnd_${alnum(32)}`,
    "Fly token": `fo1_${url(43)}`,
    "PlanetScale password": `pscale_pw_${url(43)}`,
    "PlanetScale token": `pscale_tkn_${url(43)}`,
    "Pulumi token": `pul-${hex(40)}`,
    "Terraform token": `${alnum(14)}.atlasv1.${url(64)}`,
    "Vault token": `hvs.${url(95)}`,
    "Vault batch token": `hvb.${url(150)}`,
    "Doppler token": `dp.pt.${alnum(43)}`,
    "Databricks token": `dapi${hex(32)}`,
    "Docker token": `dckr_pat_${url(27)}`,
    "npm token": `npm_${alnum(36)}`,
    "PyPI token": `pypi-AgEIcHlwaS5vcmc${url(150)}`,
    "RubyGems key": `rubygems_${hex(48)}`,
    "Clojars token": `CLOJARS_${of(LOWER + DIGITS, 60)}`,
    "Stripe live key": `sk_live_${alnum(24)}`,
    "Stripe long key": `sk_live_${alnum(99)}`,
    "Stripe restricted key": `rk_live_${alnum(24)}`,
    "Stripe webhook secret": `whsec_${alnum(32)}`,
    "Square token": `sq0atp-${url(22)}`,
    "Shopify token": `shpat_${hex(32)}`,
    "Shopify secret": `shpss_${hex(32)}`,
    "Twilio key": `SK${hex(32)}`,
    "SendGrid key": `SG.${url(22)}.${url(43)}`,
    "Brevo key": `xkeysib-${hex(64)}-${alnum(16)}`,
    "Mailchimp key": `${hex(32)}-us19`,
    "Resend key": `re_${alnum(8)}_${alnum(24)}`,
    "Postman key": `PMAK-${hex(24)}-${hex(34)}`,
    "Slack bot token": `xoxb-${of(DIGITS, 12)}-${of(DIGITS, 13)}-${alnum(24)}`,
    "Slack user token": `xoxp-${of(DIGITS, 12)}-${of(DIGITS, 12)}-${of(DIGITS, 12)}-${hex(32)}`,
    "Slack app token": `xapp-1-${upper(11)}-${of(DIGITS, 13)}-${hex(64)}`,
    "Slack webhook": `https://hooks.slack.com/services/T${upper(10)}/B${upper(10)}/${alnum(24)}`,
    "Discord webhook": `https://discord.com/api/webhooks/${of(DIGITS, 18)}/${url(68)}`,
    "Discord bot token": `M${url(25)}.${alnum(6)}.${url(38)}`,
    "Telegram token": `${of(DIGITS, 10)}:AA${url(33)}`,
    "Teams webhook": `https://acme.webhook.office.com/webhookb2/${uuid(hex)}@${uuid(hex)}/IncomingWebhook/${hex(32)}/${uuid(hex)}`,
    "Figma token": `figd_${url(43)}`,
    "Notion token": `ntn_${of(DIGITS, 11)}${alnum(35)}`,
    "Notion old token": `secret_${alnum(43)}`,
    "Linear key": `lin_api_${alnum(40)}`,
    "Airtable token": `pat${alnum(14)}.${hex(64)}`,
    "Atlassian token": `ATATT3${alnum(186)}`,
    JWT: `${jwtPart({ alg: "HS256", typ: "JWT" })}.${jwtPart({ sub: alnum(12), iat: 1_700_000_000 })}.${url(43)}`,
    "long JWT": `${jwtPart({ alg: "RS256", kid: alnum(16) })}.${jwtPart({ claims: alnum(900) })}.${url(342)}`,
    "New Relic key": `NRAK-${upper(27)}`,
    "Sentry token": `sntryu_${hex(64)}`,
    "Grafana token": `glsa_${alnum(32)}_${hex(8)}`,
    "PostHog key": `phx_${alnum(43)}`,
    "Dynatrace token": `dt0c01.${upper(24)}.${upper(64)}`,
    "Tailscale key": `tskey-auth-k${alnum(11)}CNTRL-${alnum(32)}`,
    "1Password key": `A3-${upper(6)}-${upper(11)}-${upper(5)}-${upper(5)}-${upper(5)}`,
    "age key": `AGE-SECRET-KEY-1${of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)}`,
    "Duffel token": `duffel_live_${url(43)}`,
    "EasyPost key": `EZAK${alnum(54)}`,
    "Shippo token": `shippo_live_${hex(40)}`,
    "Typeform token": `tfp_${url(59)}`,
    "RSA private key": pem("RSA PRIVATE KEY"),
    "EC private key": pem("EC PRIVATE KEY"),
    "OpenSSH private key": pem("OPENSSH PRIVATE KEY"),
    "PKCS 8 private key": pem("PRIVATE KEY"),
    "PGP private key": pem("PGP PRIVATE KEY BLOCK"),
    "TOTP address": `otpauth://totp/Acme:ada@example.com?issuer=Acme&secret=${of(BASE32, 32)}`,
  };
}

/** Secrets that only the words around them identify, each in a text. */
export function named(seed: number): Sample[] {
  const { of } = createChars(seed);
  const word = () => `${of(UPPER, 1)}${of(LOWER, 4)}`;
  const password = () => `${word()}${of(DIGITS, 3)}${of("!#%&*", 1)}${of(LOWER, 3)}`;
  const sample = (name: string, secret: string, text: (secret: string) => string) => ({
    ...{ name, secret },
    text: text(secret),
  });
  return [
    sample("AWS secret key", of(BASE64, 40), (it) => `aws_secret_access_key = ${it}`),
    sample("AWS secret key in words", of(ALNUM, 40), (it) => `AWS secret access key: ${it}`),
    sample("Datadog key", of(HEX, 32), (it) => `DATADOG_API_KEY="${it}"`),
    sample("Algolia key", of(HEX, 32), (it) => `algolia_admin_key: ${it}`),
    sample("hex key", of(HEX, 40), (it) => `{"api_key": "${it}"}`),
    sample("client secret", of(ALNUM, 32), (it) => `client_secret=${it}`),
    sample("token in YAML", of(ALNUM, 40), (it) => `deploy:\n  auth_token: ${it}\n`),
    sample(
      "API key in words",
      of(ALNUM, 32),
      (it) => `The API key for the weather service is ${it}.`,
    ),
    sample(
      "token in words",
      of(ALNUM, 28),
      (it) => `Sam's access token is now ${it}, valid for a year`,
    ),
    sample("secret in words", of(HEX, 48), (it) => `The signing secret is \`${it}\`.`),
    sample(
      "bearer",
      of(ALNUM, 40),
      (it) => `curl -H "Authorization: Bearer ${it}" https://api.example.com`,
    ),
    sample("basic", `${of(ALNUM, 30)}==`, (it) => `Authorization: Basic ${it}`),
    sample(
      "Azure storage",
      `${of(BASE64, 86)}==`,
      (it) =>
        `DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=${it};EndpointSuffix=core.windows.net`,
    ),
    sample(
      "SAS",
      `${of(ALNUM, 43)}%3D`,
      (it) => `https://acme.blob.core.windows.net/x?sv=2024-01-01&sr=b&sig=${it}&se=2027`,
    ),
    sample(
      "Postgres",
      of(ALNUM, 16),
      (it) => `DATABASE_URL=postgres://app:${it}@db.example.com:5432/app`,
    ),
    sample("MySQL", password(), (it) => `mysql://root:${it}@10.0.0.5/shop`),
    sample(
      "MongoDB",
      of(ALNUM, 20),
      (it) => `We use mongodb+srv://reader:${it}@cluster0.example.mongodb.net/test`,
    ),
    sample("Redis", of(HEX, 64), (it) => `redis://:${it}@cache.example.com:6379/0`),
    sample("AMQP", of(ALNUM, 12), (it) => `amqps://queue:${it}@mq.example.com/v`),
    sample(
      "git over HTTPS",
      of(ALNUM, 24),
      (it) => `git clone https://ada:${it}@git.example.com/acme/shop.git`,
    ),
    sample("FTP", password(), (it) => `ftp://web:${it}@files.example.com/`),
    sample("password setting", password(), (it) => `DB_PASSWORD=${it}`),
    sample("password in YAML", password(), (it) => `  password: ${it}`),
    sample("password in JSON", password(), (it) => `{"user": "ada", "password": "${it}"}`),
    sample("password in words", password(), (it) => `The Wi-Fi password is ${it}.`),
    sample("password of a thing", password(), (it) => `Password for the router: ${it}`),
    sample("password in German", password(), (it) => `Das Passwort für das WLAN ist ${it}`),
    sample("password in Chinese", password(), (it) => `服务器的密码是${it}。`),
    sample("passphrase", password(), (it) => `ssh passphrase = "${it}"`),
  ];
}

/** Forms in which people and agents write a secret. */
const AROUND: readonly ((name: string, secret: string) => string)[] = [
  (name, it) => `The ${name} of the shop is ${it}.`,
  (name, it) => `${name.toUpperCase().replaceAll(/\W+/g, "_")}=${it}`,
  (_, it) => `export TOKEN="${it}"; make deploy`,
  (_, it) => `{"credentials":{"value":"${it}"},"user":"ada"}`,
  (name, it) => `Use \`${it}\` as the ${name}, and rotate it in May.`,
  (name, it) => `${name}：${it}。`,
  (_, it) => `(see ${it}), then restart`,
  (_, it) => it,
];

/** All kinds of secrets, each in a text. */
export function samples(seed: number): Sample[] {
  const ofShape = Object.entries(shaped(seed)).map(([name, secret], place) => {
    const around = AROUND[(place + seed) % AROUND.length] ?? AROUND[0];
    return { name, secret, text: around?.(name, secret) ?? secret };
  });
  return [...ofShape, ...named(seed)];
}

function uuid(hex: (length: number) => string) {
  return [8, 4, 4, 4, 12].map(hex).join("-");
}
