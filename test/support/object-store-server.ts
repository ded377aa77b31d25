import { rmSync } from "node:fs";
import S3rver from "s3rver";
import { until } from "./until.ts";

/** Answers how many requests there were of each method. */
const COUNTS = "/-/counts";

// The process of `startObjectStore`: FOLDER PORT BUCKET. It ends with its parent process, and removes its
// folder then.
const [directory = "", port = "0", bucket = ""] = process.argv.slice(2);

const server = new S3rver({
  directory,
  address: "127.0.0.1",
  port: Number(port),
  silent: true,
  vhostBuckets: false,
  configureBuckets: [{ name: bucket }],
});

// s3rver finds common prefixes only in a folder itself, not in its subfolders, and the tokens of its pages need a
// cipher that Bun lacks. So all objects are on one page.
const { store } = server;
const listObjects = store.listObjects.bind(store);
store.listObjects = async (bucket, options) => {
  const { delimiter, prefix = "" } = options;
  const all = await listObjects(bucket, { ...options, delimiter: "", maxKeys: Infinity });
  if (!delimiter) return all;
  const folderOf = (key: string) => {
    const end = key.indexOf(delimiter, prefix.length);
    return end < 0 ? null : key.slice(0, end + delimiter.length);
  };
  const folders = new Set(all.objects.flatMap(({ key }) => folderOf(key) ?? []));
  const objects = all.objects.filter(({ key }) => folderOf(key) === null);
  return { objects, commonPrefixes: [...folders].sort(), isTruncated: false };
};

// s3rver answers before the whole object is in its file.
const putObject = store.putObject.bind(store);
store.putObject = async (object) => {
  const put = await putObject(object);
  const file = store.getResourcePath(object.bucket, object.key, "object");
  await until("the object is written", () => Bun.file(file).size >= put.size);
  return put;
};

const counts: Record<string, number> = {};
server.middleware.unshift(async (context, next) => {
  if (context.path === COUNTS) context.body = JSON.stringify(counts);
  else {
    counts[context.method] = (counts[context.method] ?? 0) + 1;
    await next();
  }
});
await server.run();
console.log("listening");

for await (const _ of Bun.stdin.stream());
rmSync(directory, { recursive: true, force: true });
process.exit();
