import { createSentences } from "../bench/sentences.ts";
import type { EvaluationSet } from "./set.ts";

/** What one memory says, and the questions that it must answer first, by their kind. */
type Case = readonly [
  content: string,
  questions: Readonly<Record<string, string | readonly string[]>>,
];

const CASES: readonly Case[] = [
  // Code, and names in it.
  [
    "export async function getUserById(id: string): Promise<User | null> {\n  const row = await db.query('SELECT * FROM users WHERE id = ?', [id]);\n  return row ? toUser(row) : null;\n}",
    {
      identifier: ["getUserById", "get user by id", "get_user_by_id"],
      code: "function that reads one user from the database",
    },
  ],
  [
    "export function getOrderByNumber(number: string): Order {\n  return orders.find((order) => order.number === number) ?? missing(number);\n}",
    { identifier: ["getOrderByNumber", "order by number"] },
  ],
  [
    "class HTTPRetryPolicy:\n    max_attempts = 5\n    def backoff_seconds(self, attempt):\n        return 2 ** attempt",
    {
      identifier: ["HTTPRetryPolicy", "retry policy", "backoffSeconds", "max-attempts"],
      code: "how long does the Python class wait between attempts",
    },
  ],
  [
    "for (let i = 0; i < items.length; i++) { total += items[i].price * items[i].quantity; }",
    { code: "loop that sums price times quantity" },
  ],
  [
    "The feature flag is called ENABLE_NEW_CHECKOUT and is off in production.",
    { identifier: ["ENABLE_NEW_CHECKOUT", "enableNewCheckout", "new checkout flag"] },
  ],
  [
    "The feature flag is called ENABLE_DARK_MODE and is on for everybody.",
    { identifier: "ENABLE_DARK_MODE" },
  ],
  // Paths, versions, numbers, addresses.
  [
    "The entry point moved from src/app/main.ts to src/server/start.ts.",
    { path: ["src/app/main.ts", "src/server/start.ts", "start.ts"] },
  ],
  [
    "The settings of nginx are in /etc/nginx/conf.d/memory.conf.",
    { path: ["/etc/nginx/conf.d/memory.conf", "memory.conf"] },
  ],
  ["We run release v2.3.1 in Frankfurt.", { version: ["v2.3.1", "where does v2.3.1 run"] }],
  ["Release v2.3.10 broke the import.", { version: "v2.3.10" }],
  ["Release v2.1.3 was never rolled out.", { version: "v2.1.3" }],
  [
    "The broken session had the id 550e8400-e29b-41d4-a716-446655440000.",
    {
      number: [
        "550e8400-e29b-41d4-a716-446655440000",
        "550e8400e29b41d4a716446655440000",
        "446655440000",
      ],
    },
  ],
  [
    "The other session was 7d444840-9dc0-11d1-b245-5ffdce74fad2.",
    { number: "7d444840-9dc0-11d1-b245-5ffdce74fad2" },
  ],
  [
    "The backup of March has the SHA-256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.",
    { number: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" },
  ],
  [
    "The fix is commit 4f44315abc0d, the bug came with 81ebd6a77cd1.",
    { number: ["4f44315abc0d", "81ebd6a77cd1"] },
  ],
  [
    "The ticket is at https://tracker.example.com/browse/PAY-4711?view=full.",
    {
      url: [
        "PAY-4711",
        "tracker.example.com/browse/PAY-4711",
        "https://tracker.example.com/browse/PAY-4711?view=full",
      ],
    },
  ],
  [
    "Docs of the API: https://docs.example.org/v3/webhooks/signatures#hmac",
    { url: ["docs.example.org webhooks signatures", "docs about webhook signatures"] },
  ],
  [
    "The staging database is at 10.20.30.40:5433, the live one at 10.20.30.41:5432.",
    { number: ["10.20.30.40", "10.20.30.41:5432"] },
  ],
  // Logs, tables, JSON.
  [
    "2026-03-02T08:14:22Z ERROR [proxy] ERR_TLS_CERT_EXPIRED upstream=api.internal code=526\n2026-03-02T08:14:23Z WARN [proxy] retry in 2 s",
    { log: ["ERR_TLS_CERT_EXPIRED", "tls cert expired", "errTlsCert", "error 526"] },
  ],
  [
    "2026-03-02T09:01:00Z ERROR [worker] ERR_QUEUE_FULL size=10000\n2026-03-02T09:01:05Z INFO [worker] drained",
    { log: ["ERR_QUEUE_FULL", "when was the queue full"] },
  ],
  [
    "TypeError: Cannot read properties of undefined (reading 'latitude')\n    at renderMap (src/map/render.ts:88:14)\n    at async Page.load (src/page.ts:12:3)",
    { log: ["Cannot read properties of undefined latitude", "renderMap", "crash at render.ts:88"] },
  ],
  [
    "| plan | seats | price |\n|---|---|---|\n| Basic | 3 | 9 EUR |\n| Team | 20 | 49 EUR |\n| Enterprise | unlimited | on request |",
    { table: ["price of the Team plan", "how many seats has the Basic plan"] },
  ],
  [
    "| room | floor | projector |\n|---|---|---|\n| Ada | 2 | yes |\n| Turing | 3 | no |",
    { table: ["which room has no projector", "on which floor is the room Ada"] },
  ],
  [
    '{"region":"eu-central-1","cluster":{"nodes":5,"instanceType":"m6i.xlarge"},"autoscaling":{"min":2,"max":9}}',
    {
      json: [
        "instanceType of the cluster",
        "m6i.xlarge",
        "how many nodes at most with autoscaling",
      ],
    },
  ],
  [
    '{"smtp":{"host":"mail.example.net","port":587,"starttls":true},"from":"noreply@example.net"}',
    { json: ["smtp port", "noreply@example.net"] },
  ],
  // Words that are misspelt, accents, parts of compounds.
  [
    "The Kubernetes cluster of the shop has three control planes.",
    { misspelt: ["Kubernets", "Kuberntes cluster", "kubrenetes"] },
  ],
  [
    "Our tracing goes to Grafana Tempo by OpenTelemetry.",
    { misspelt: ["OpenTelemtry", "opentelemetery"] },
  ],
  ["Grandfather's accordion needs new reeds.", { misspelt: ["acordion", "accordeon"] }],
  [
    "The PostgreSQL replica in Dublin lags behind by a minute.",
    { misspelt: ["Postgressql replica", "PostgresQL in Dubln"] },
  ],
  [
    "Dr. Szczepański sees patients on Tuesdays.",
    { accent: ["Szczepanski", "Dr. Szczepanskis hours"] },
  ],
  [
    "Die Steuererklärung liegt im Ordner im Arbeitszimmer.",
    { compound: ["Erklärung für die Steuer", "Steuererklaerung", "Steuererklärungen"] },
  ],
  [
    "Der Kellerschlüssel hängt hinter der Küchentür.",
    { compound: ["Schlüssel", "Wo ist der Schluessel vom Keller?"] },
  ],
  [
    "La clé de la cave est chez le gardien, au rez-de-chaussée.",
    { accent: ["cle de la cave", "gardien rez de chaussee"] },
  ],
  ["Ο σκύλος της Ελένης λέγεται Άργος.", { accent: ["σκυλος Ελενης", "Αργος"] }],
  ["Ёлка стоит в углу гостиной.", { accent: "елка" }],
  // Scripts without spaces, cut in another way by question and text.
  ["我家的猫叫咪咪，今年三岁。", { chinese: ["猫", "我的猫叫什么名字", "咪咪几岁"] }],
  ["我家的狗叫旺财，每天早上要散步。", { chinese: ["狗", "狗什么时候散步"] }],
  [
    "服务器的备份密码保存在财务部的保险柜里。",
    { chinese: ["备份密码在哪里", "保险柜里有什么", "密码保存"] },
  ],
  ["研究生命起源的小组每周三开会。", { chinese: ["生命起源小组", "研究小组什么时候开会"] }],
  ["使用者喜歡喝烏龍茶，不喝咖啡。", { chinese: ["烏龍茶", "喜歡喝什麼茶"] }],
  ["鍵はかばんの外ポケットに入っています。", { japanese: ["鍵はどこですか", "外ポケットの鍵"] }],
  ["東京都の税務署に書類を提出しました。", { japanese: ["税務署", "東京の書類"] }],
  [
    "コンピューターサイエンスの講義は月曜日です。",
    { japanese: ["コンピューターの講義", "サイエンス講義 曜日"] },
  ],
  [
    "우리 회사의 서버는 부산에 있습니다.",
    { korean: ["회사 서버", "부산", "서버가 어디에 있나요"] },
  ],
  ["한국어를 매주 화요일에 배운다.", { korean: ["한국어", "화요일"] }],
  ["กุญแจสำรองอยู่ในลิ้นชักโต๊ะทำงาน", { thai: ["กุญแจสำรอง", "ลิ้นชัก", "กุญแจอยู่ที่ไหน"] }],
  ["มหาวิทยาลัยเชียงใหม่เปิดเทอมเดือนมิถุนายน", { thai: ["มหาวิทยาลัย", "เชียงใหม่เปิดเทอมเมื่อไร"] }],
];

/** Long texts, with what is said in the middle of some 30,000 characters about other things. */
const LONG: readonly [said: string, questions: readonly string[]][] = [
  [
    "The spare pump of the greenhouse is under the red bench.",
    ["where is the spare pump of the greenhouse", "red bench pump"],
  ],
  [
    "Call rotateSigningKey() before midnight, or tokens of tenant-0815 expire.",
    ["rotateSigningKey", "tenant-0815", "what to call before tokens expire"],
  ],
  ["Frau Öztürk übernimmt ab Mai die Buchhaltung.", ["Öztürk", "wer übernimmt die Buchhaltung"]],
];
const LENGTH = 27_000;

/** Memories that are no sentences, or no English, or very long, and what must be found first. */
export function readOdd(): EvaluationSet {
  const sentences = createSentences(14);
  const set: EvaluationSet = { memories: [], questions: [] };
  const add = (content: string, questions: Case[1]) => {
    const id = `odd ${set.memories.length + 1}`;
    const said_at = new Date(Date.parse("2026-01-05T09:00:00Z") + set.memories.length * 3_600_000);
    set.memories.push({ id, content, said_at: said_at.toISOString() });
    for (const [category, asked] of Object.entries(questions)) {
      for (const question of [asked].flat())
        set.questions.push({ question, evidence: [id], category });
    }
  };
  for (const [content, questions] of CASES) add(content, questions);
  for (const [said, long] of LONG) {
    const fill = () => {
      let text = "";
      while (text.length < LENGTH / 2) text += `${sentences.memory().content} `;
      return text;
    };
    add(`${fill()}${said} ${fill()}`, { long });
  }
  // What others are about.
  for (let count = 0; count < 60; count++) add(sentences.memory().content, {});
  return set;
}
