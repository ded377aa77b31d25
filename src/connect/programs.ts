/** Programs that use memories over HTTP, without MCP: what a person starts from. */
export interface Program {
  readonly id: string;
  readonly name: string;
  /** What to do with the text: a sentence. */
  readonly instruction: string;
  /** Saves a memory and finds it with a question. @param url of the API, `…/api/memories` */
  readonly code: (url: string, key: string) => string;
}

export const PROGRAMS: readonly Program[] = [
  {
    id: "curl",
    name: "curl",
    instruction:
      "Run this in a terminal: it saves a memory and finds it with a question. The first line keeps the key in a file of your own, because other users of a machine see the arguments of every program.",
    code: (url, key) => `(umask 077; echo "Authorization: Bearer ${key}" > ~/.ctxd-header)

curl ${url} \\
  -H @"$HOME/.ctxd-header" \\
  -H "Content-Type: application/json" \\
  -d '{"content": "Sam is allergic to peanuts", "tags": ["food"]}'

curl -G ${url}/search \\
  -H @"$HOME/.ctxd-header" \\
  --data-urlencode "q=which food makes him ill?"`,
  },
  {
    id: "typescript",
    name: "TypeScript",
    instruction: "This runs as it is with Bun, Deno and Node.js, and in no need of a library.",
    code: (url, key) => `const url = "${url}";
const headers = {
  Authorization: "Bearer ${key}",
  "Content-Type": "application/json",
};

await fetch(url, {
  method: "POST",
  headers,
  body: JSON.stringify({ content: "Sam is allergic to peanuts", tags: ["food"] }),
});

const question = new URLSearchParams({ q: "which food makes him ill?" });
const response = await fetch(\`\${url}/search?\${question}\`, { headers });
const { memories } = await response.json();
for (const { score, content } of memories) console.log(score, content);`,
  },
  {
    id: "python",
    name: "Python",
    instruction: "This runs as it is with Python 3, and in no need of a library.",
    code: (url, key) => `import json
from urllib.parse import urlencode
from urllib.request import Request, urlopen

URL = "${url}"
HEADERS = {
    "Authorization": "Bearer ${key}",
    "Content-Type": "application/json",
}


def call(method, path="", body=None):
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(URL + path, data, HEADERS, method=method)) as response:
        return json.load(response)


call("POST", body={"content": "Sam is allergic to peanuts", "tags": ["food"]})

question = urlencode({"q": "which food makes him ill?"})
for memory in call("GET", f"/search?{question}")["memories"]:
    print(memory["score"], memory["content"])`,
  },
];
