import { type Metrics, measureCalls } from "../metrics.ts";
import { isNotFound, NO_ANSWER, ObjectStoreError } from "./object-store-error.ts";
import type { Objects } from "./objects.ts";

/** Has metrics tell what is asked of an object store, how long it takes, and what comes of it. */
export function measureObjects(objects: Objects, metrics: Metrics): Objects {
  const measure = measureCalls(metrics, {
    name: "ctxd_object_request_duration_seconds",
    help: "Time of calls of the object store, with those that are made again.",
    resultOf,
  });

  /** Each page is a call. */
  async function* measurePages<Page>(pages: AsyncGenerator<Page>) {
    for (;;) {
      const { done, value } = await measure("list", () => pages.next());
      if (done) return;
      yield value;
    }
  }

  return {
    put: (...args) => measure("put", () => objects.put(...args)),
    fetch: (...args) => measure("get", () => objects.fetch(...args)),
    text: (...args) => measure("get", () => objects.text(...args)),
    remove: (...args) => measure("delete", () => objects.remove(...args)),
    list: (...args) => measurePages(objects.list(...args)),
    folders: () => measurePages(objects.folders()),
    versioning: () => measure("versioning", objects.versioning),
  };
}

function resultOf(error: unknown): string {
  if (isNotFound(error)) return "not_found";
  if (!(error instanceof ObjectStoreError)) return "failed";
  return error.status === null || error.code === NO_ANSWER ? "unreachable" : "refused";
}
