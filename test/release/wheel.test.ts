import { expect, test } from "bun:test";
import { join } from "node:path";
import { make } from "../../src/build/release/wheel.ts";
import { hashFile } from "../../src/native/asset.ts";
import { temporaryFolder } from "../support/database.ts";

const repository = "https://github.com/owner/ctxd";
const makeWheel = async (out = temporaryFolder()) =>
  make({ version: "1.2.3", repository, executables: {}, out });

test("the wheel is reproducible", async () => {
  const out = temporaryFolder();
  const [path = ""] = await makeWheel(out);
  expect(path).toBe(join(out, "ctxd_client-1.2.3-py3-none-any.whl"));
  const [again = ""] = await makeWheel();
  expect(await hashFile(again)).toBe(await hashFile(path));
});

const python = Bun.which("python3");

/** Python can import a pure Python wheel without installing it. */
const PROGRAM = `
import base64, hashlib, json, sys
from importlib import metadata, resources
import ctxd

package = metadata.distribution("ctxd-client")
for file in package.files:
    if file.hash:
        content = file.locate().read_bytes()
        assert len(content) == file.size, file
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        assert digest == file.hash.value, file
print(json.dumps({
    "from": ctxd.__file__,
    "typed": (resources.files(ctxd) / "py.typed").is_file(),
    "files": len(package.files),
    "version": package.version,
    "needs": package.requires,
    "python": package.metadata["Requires-Python"],
    "client": str(ctxd.Client("ctx_1").project),
}))
`;

test.skipIf(!python)("Python finds the complete package in it", async () => {
  const [path = ""] = await makeWheel();
  const { stdout, stderr } = Bun.spawnSync([python ?? "", "-c", PROGRAM], {
    cwd: temporaryFolder(),
    env: { PYTHONPATH: path },
  });
  expect(stderr.toString()).toBe("");
  expect(JSON.parse(stdout.toString())).toEqual({
    from: join(path, "ctxd", "__init__.py"),
    ...{
      typed: true,
      files: expect.any(Number),
      version: "1.2.3",
      python: ">=3.9",
      client: "None",
    },
    needs: expect.arrayContaining([expect.stringMatching(/langgraph.*extra == .langgraph./)]),
  });
});
