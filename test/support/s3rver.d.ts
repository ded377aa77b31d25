declare module "s3rver" {
  interface Listed {
    objects: { key: string }[];
    commonPrefixes: string[];
    isTruncated: boolean;
  }
  export default class S3rver {
    constructor(options: {
      directory: string;
      address: string;
      port: number;
      silent: boolean;
      vhostBuckets: boolean;
      configureBuckets: { name: string }[];
    });
    store: {
      listObjects(
        bucket: string,
        options: { delimiter?: string; prefix?: string; maxKeys?: number },
      ): Promise<Listed>;
      putObject(object: { bucket: string; key: string }): Promise<{ size: number; md5: string }>;
      getResourcePath(bucket: string, key: string, kind: "object"): string;
    };
    /** Koa's. */
    middleware: ((
      context: { method: string; path: string; body: unknown },
      next: () => Promise<void>,
    ) => Promise<void>)[];
    run(): Promise<unknown>;
  }
}
