/** Example code for using memories over HTTP, without MCP. */
export interface CodeExample {
  readonly id: string;
  readonly name: string;
  /** How to use the code, as a sentence. */
  readonly instruction: string;
  /** Code that saves a memory and finds it with a question. @param url of the API, `…/api/memories` */
  readonly code: (url: string, key: string) => string;
}

export const CODE_EXAMPLES: readonly CodeExample[] = [
  {
    id: "curl",
    name: "curl",
    instruction:
      "Run this in a terminal: it saves a memory and finds it with a question. The first line writes the key to a private file, because other users of the machine can see the arguments of every program.",
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
    instruction: "This runs unchanged with Bun, Deno and Node.js. It needs no library.",
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
    instruction: "This runs unchanged with Python 3. It needs no library.",
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
