import S3rver from "s3rver";

// The process of `startObjectStore`: FOLDER PORT BUCKET. It ends with the one that started it.
const [directory = "", port = "0", bucket = ""] = process.argv.slice(2);

const server = new S3rver({
  directory,
  address: "127.0.0.1",
  port: Number(port),
  silent: true,
  vhostBuckets: false,
  configureBuckets: [{ name: bucket }],
});
console.log((await server.run()).port);

for await (const _ of Bun.stdin.stream());
process.exit();
