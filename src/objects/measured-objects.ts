import { type Metrics, measureCalls } from "../metrics.ts";
import { isNotFound, NO_ANSWER, ObjectStoreError } from "./object-store-error.ts";
import type { Objects } from "./objects.ts";

/** Records the calls to an object store, their duration and their result as metrics. */
export function measureObjects(objects: Objects, metrics: Metrics): Objects {
  const measure = measureCalls(metrics, {
    name: "ctxd_object_request_duration_seconds",
    help: "Duration of calls to the object store, including retries.",
    resultOf,
  });

  /** Measures each page as a call. */
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
