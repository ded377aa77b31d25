/** A regular expression as data. It is compiled when a text first contains a keyword of its pattern. */
export interface Expression {
  source: string;
  flags: string;
}

/**
 * The form of one kind of secret. The secret is the longest matched group, or the whole match without
 * groups.
 */
export interface Pattern extends Expression {
  /** Name of the kind, such as `github-pat`: ASCII words with hyphens. */
  kind: string;
  /** In lower case. A text without any of them has no secret of this kind. */
  keywords: readonly string[];
  /** Shannon entropy in bits per character that a secret must exceed. */
  entropy?: number;
  /** Matched texts that are no secrets. */
  harmless?: readonly Expression[];
  /** The same, tested against the whole match including the secret's name. */
  harmlessMatch?: readonly Expression[];
  /** In lower case. A text that contains one is a word, not a random secret. */
  stopwords?: readonly string[];
}

/** The position of a secret in a text, as offsets of `String.slice`. */
export interface FoundSecret {
  kind: string;
  start: number;
  end: number;
}

/** Boundaries of a token: it is not part of a longer word or number. */
const STARTS = "(?<![A-Za-z0-9])";
const ENDS = "(?![A-Za-z0-9_-])";

function token(
  kind: string,
  keyword: string,
  form: string,
  more: Pick<Pattern, "entropy"> = {},
): Pattern {
  const source = `${STARTS}(${form})${ENDS}`;
  return { kind, keywords: [keyword], source, flags: "", ...more };
}

/** The pattern of a token with a fixed prefix. `body` matches the rest. */
function prefixed(kind: string, prefix: string, body: string): Pattern {
  return token(kind, prefix.toLowerCase(), `${RegExp.escape(prefix)}${body}`, { entropy: 2.5 });
}

/**
 * Kinds of secrets that gitleaks' patterns lack, or find only in quotes and assignments. The forms are
 * those of the issuers' documentation, or of tokens that they issue.
 */
export const OWN_PATTERNS: readonly Pattern[] = [
  prefixed("ctxd-api-key", "ctx_", "[0-9A-Za-z]{43}"),
  prefixed("anthropic-api-key", "sk-ant-", "[A-Za-z0-9_-]{20,200}"),
  prefixed("openai-api-key", "sk-", "(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,200}"),
  prefixed("openai-api-key", "sk-", "[A-Za-z0-9]{48}"),
  prefixed("deepseek-api-key", "sk-", "[a-f0-9]{32}"),
  prefixed("openrouter-api-key", "sk-or-v1-", "[a-f0-9]{64}"),
  prefixed("langfuse-secret-key", "sk-lf-", "[a-f0-9-]{36}"),
  prefixed("groq-api-key", "gsk_", "[A-Za-z0-9]{52}"),
  prefixed("xai-api-key", "xai-", "[A-Za-z0-9]{80}"),
  prefixed("elevenlabs-api-key", "sk_", "[a-f0-9]{48}"),
  prefixed("replicate-api-token", "r8_", "[A-Za-z0-9]{37}"),
  prefixed("hugging-face-token", "hf_", "[A-Za-z0-9]{34}"),
  prefixed("langsmith-api-key", "lsv2_", "(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
  prefixed("tavily-api-key", "tvly-", "[A-Za-z0-9-]{20,64}"),
  prefixed("firecrawl-api-key", "fc-", "[a-f0-9]{32}"),
  prefixed("pinecone-api-key", "pcsk_", "[A-Za-z0-9_]{40,100}"),
  prefixed("google-oauth-client-secret", "GOCSPX-", "[A-Za-z0-9_-]{28}"),
  prefixed("google-oauth-access-token", "ya29.", "[A-Za-z0-9_-]{30,2048}"),
  prefixed("google-oauth-refresh-token", "1//", "0[A-Za-z0-9_-]{40,200}"),
  prefixed("gcp-api-key", "AIza", "[A-Za-z0-9_-]{35}"),
  prefixed("stripe-webhook-secret", "whsec_", "[A-Za-z0-9+/]{32,64}"),
  prefixed("github-token", "gh", "[oprsu]_[A-Za-z0-9]{36,251}"),
  prefixed("gitlab-token", "gl", "(?:pat|dt|rt|oas|cbt|ptt|ft|soat)-[A-Za-z0-9_.-]{20,300}"),
  prefixed("supabase-access-token", "sbp_", "[a-f0-9]{40}"),
  prefixed("supabase-secret-key", "sb_secret_", "[A-Za-z0-9_-]{20,64}"),
  prefixed("vercel-token", "vc", "[pciark]_[A-Za-z0-9]{20,60}"),
  prefixed("cloudflare-token", "cf", "(?:k|ut|at)_[A-Za-z0-9]{48}"),
  prefixed("docker-token", "dckr_", "[po]at_[A-Za-z0-9_-]{27,64}"),
  prefixed("figma-token", "fig", "[du]_[A-Za-z0-9_-]{40,200}"),
  prefixed("tailscale-key", "tskey-", "[a-z]{2,20}-[0-9A-Za-z]{8,40}(?:-[0-9A-Za-z]{16,60})?"),
  prefixed("notion-token", "secret_", "[A-Za-z0-9]{43}"),
  prefixed("airtable-token", "pat", String.raw`[A-Za-z0-9]{14}\.[a-f0-9]{64}`),
  prefixed("posthog-personal-key", "phx_", "[A-Za-z0-9]{32,64}"),
  prefixed("resend-api-key", "re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
  prefixed("render-api-key", "rnd_", "[A-Za-z0-9]{28,40}"),
  prefixed("neon-api-key", "napi_", "[a-z0-9]{40,80}"),
  prefixed("linear-oauth-token", "lin_oauth_", "[A-Za-z0-9]{40,128}"),
  prefixed("sendgrid-api-key", "SG.", String.raw`[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}`),
  prefixed("slack-token", "xox", "[abeoprs]-[A-Za-z0-9-]{20,250}"),
  prefixed("slack-app-token", "xapp-", "[0-9]-[A-Za-z0-9-]{20,250}"),
  prefixed("npm-token", "npm_", "[A-Za-z0-9]{36}"),
  prefixed("shopify-token", "shp", "(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{32}"),
  prefixed("new-relic-user-api-key", "NRAK-", "[A-Z0-9]{27}"),
  prefixed("typeform-api-token", "tfp_", "[A-Za-z0-9_.=-]{40,64}"),
  token("mailchimp-api-key", "-us", "[a-f0-9]{32}-us[0-9]{1,2}"),
  token("azure-ad-client-secret", "q~", "[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", {
    entropy: 3,
  }),
  token("telegram-bot-token", ":aa", "[0-9]{8,11}:AA[A-Za-z0-9_-]{33}"),
  token(
    "discord-bot-token",
    ".",
    String.raw`[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}`,
    { entropy: 4 },
  ),
  {
    kind: "aws-access-token",
    keywords: ["akia", "asia"],
    source: `${STARTS}((?:AKIA|ASIA)[A-Z0-9]{16})${ENDS}`,
    flags: "",
    entropy: 2.5,
    harmless: [{ source: "EXAMPLE$", flags: "" }],
  },
  {
    kind: "jwt",
    keywords: ["ey"],
    source: String.raw`(?<![A-Za-z0-9_-])(ey[A-Za-z0-9_-]{15,4096}\.ey[A-Za-z0-9_-]{10,16384}\.[A-Za-z0-9_-]{0,4096})`,
    flags: "",
  },
  {
    kind: "azure-storage-key",
    keywords: ["accountkey=", "sharedaccesskey="],
    source: "(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43,88}={0,2})",
    flags: "i",
  },
  {
    kind: "azure-sas-signature",
    keywords: ["sig="],
    source: "[?&]sig=([A-Za-z0-9%+/]{43,128}={0,2})",
    flags: "i",
  },
  {
    kind: "totp-secret",
    keywords: ["otpauth://"],
    source: String.raw`otpauth://[^\s"'<>]{1,256}?secret=([A-Za-z2-7]{16,128})`,
    flags: "i",
  },
  {
    kind: "slack-webhook",
    keywords: ["hooks.slack.com/"],
    source: "hooks\\.slack\\.com/((?:services|workflows|triggers)/[A-Za-z0-9+/]{30,80})",
    flags: "i",
  },
  {
    kind: "discord-webhook",
    keywords: ["/api/webhooks/"],
    source: "discord(?:app)?\\.com/api/webhooks/([0-9]{17,20}/[A-Za-z0-9_-]{60,80})",
    flags: "i",
  },
  {
    kind: "authorization-header",
    keywords: ["bearer", "basic"],
    source: String.raw`\b(?:bearer|authorization["']?\s{0,3}[:=]\s{0,3}["']?basic)\s{1,3}([A-Za-z0-9_.~+/-]{16,4096}={0,2})`,
    flags: "i",
    entropy: 3.2,
    harmless: [{ source: "^[a-z_.-]+$", flags: "i" }],
  },
];
