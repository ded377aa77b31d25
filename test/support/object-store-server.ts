import { rmSync } from "node:fs";
import S3rver from "s3rver";

/** Answers how many requests there were of each method. */
const COUNTS = "/-/counts";

// The process of `startObjectStore`: FOLDER PORT BUCKET. It ends with the one that started it, and
// its folder goes then.
const [directory = "", port = "0", bucket = ""] = process.argv.slice(2);

const server = new S3rver({
  directory,
  address: "127.0.0.1",
  port: Number(port),
  silent: true,
  vhostBuckets: false,
  configureBuckets: [{ name: bucket }],
});

// It looks for common prefixes in a folder and not below the folders of that.
const { store } = server;
const listObjects = store.listObjects.bind(store);
store.listObjects = async (bucket, options) => {
  const { delimiter, prefix = "" } = options;
  if (!delimiter) return await listObjects(bucket, options);
  const all = await listObjects(bucket, { ...options, delimiter: "", maxKeys: Infinity });
  const folderOf = (key: string) => {
    const end = key.indexOf(delimiter, prefix.length);
    return end < 0 ? null : key.slice(0, end + delimiter.length);
  };
  const folders = new Set(all.objects.flatMap(({ key }) => folderOf(key) ?? []));
  const objects = all.objects.filter(({ key }) => folderOf(key) === null);
  return { objects, commonPrefixes: [...folders].sort(), isTruncated: false };
};

// It answers while an object may still be on its way to the file.
const putObject = store.putObject.bind(store);
store.putObject = async (object) => {
  const put = await putObject(object);
  const file = store.getResourcePath(object.bucket, object.key, "object");
  while (Bun.file(file).size < put.size) await Bun.sleep(1);
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
