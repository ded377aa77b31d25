import { randomBytes } from "node:crypto";
import type { ObjectSettings } from "../config/shared-settings.ts";
import { NOT_A_STORE, ObjectStoreError } from "./object-store-error.ts";
import { createObjects } from "./objects.ts";
import type { CallOptions } from "./signed-call.ts";

/** Name prefix of the objects that a check writes. Do not remove them: the check may still be running. */
export const CHECK_PREFIX = "check.";

/** Whether an object store can be used. `message` is one sentence that names the setting to correct. */
interface StoreFinding {
  /** `away`: the store does not answer, so its settings may be right. */
  state: "ok" | "away" | "wrong";
  message: string;
}

/** Checks an object store with one small object, and that it does not keep removed objects. */
export async function checkObjectStore(
  settings: ObjectSettings,
  { clock = Date.now, ...options }: CallOptions & { clock?: () => number } = {},
): Promise<StoreFinding> {
  const { bucket } = settings;
  const objects = createObjects(settings, options);
  const name = `${CHECK_PREFIX}${randomBytes(6).toString("hex")}/trial`;
  const text = randomBytes(12).toString("hex");
  // Amazon's name of the permission that the next call needs.
  let needs = "s3:ListBucket";
  try {
    await objects.list(name).next();
    needs = "s3:GetBucketVersioning";
    if ((await objects.versioning()) === "Enabled") {
      return wrong(
        `The bucket ${bucket} of CTXD_OBJECTS has versioning, which keeps deleted memories: use another bucket, or suspend versioning (aws s3api put-bucket-versioning --bucket ${bucket} --versioning-configuration Status=Suspended).`,
      );
    }
    needs = "s3:PutObject";
    await objects.put(name, new Blob([text]));
    needs = "s3:GetObject";
    if ((await objects.text(name)) !== text) {
      return wrong(
        "CTXD_OBJECTS is not reliable: the store returned other content than was written.",
      );
    }
    needs = "s3:DeleteObject";
    await objects.remove(name);
    for await (const page of objects.list(name)) {
      if (page.length === 0) continue;
      return wrong("CTXD_OBJECTS is not reliable: a removed object is still there.");
    }
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;
    return explain(error, { settings, needs, now: clock() });
  }
  return {
    state: "ok",
    message: `${bucket} at ${placeOf(settings)} (an object was written, read and removed)`,
  };
}

function wrong(message: string): StoreFinding {
  return { state: "wrong", message };
}

function placeOf({ endpoint, region }: ObjectSettings): string {
  return endpoint ?? `Amazon S3 in ${region}`;
}

function explain(
  error: ObjectStoreError,
  { settings, needs, now }: { settings: ObjectSettings; needs: string; now: number },
): StoreFinding {
  const place = placeOf(settings);
  const { bucket, region } = settings;
  switch (error.code) {
    case "InvalidAccessKeyId":
      return wrong(`The object store does not know AWS_ACCESS_KEY_ID (${place}).`);
    case "SignatureDoesNotMatch":
      return wrong("AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID.");
    case "ExpiredToken":
    case "InvalidToken":
    case "TokenRefreshRequired":
      return wrong("AWS_SESSION_TOKEN has expired or does not belong to AWS_ACCESS_KEY_ID.");
    case "AuthorizationHeaderMalformed":
    case "PermanentRedirect":
    case "TemporaryRedirect":
    case "IllegalLocationConstraintException": {
      const right = error.region ?? "another region";
      return wrong(`AWS_REGION is ${region}, but the bucket ${bucket} is in ${right}.`);
    }
    case "RequestTimeTooSkewed":
      return wrong(
        `This machine's clock ${compare(now, error.at)} that of the object store: set it, preferably by NTP.`,
      );
    case "NoSuchBucket":
      return wrong(`The bucket ${bucket} of CTXD_OBJECTS does not exist at ${place}.`);
    case "AccessDenied":
    case "AllAccessDisabled":
    case "AccountProblem":
      return wrong(
        `AWS_ACCESS_KEY_ID may not do ${needs} in the bucket ${bucket} of CTXD_OBJECTS.`,
      );
  }
  if (error.status === null && /CERT|SIGNED/.test(error.code)) {
    return wrong(`AWS_ENDPOINT_URL has an untrusted certificate (${error.code}).`);
  }
  if (error.status === null || error.status >= 500) {
    return { state: "away", message: `No object store answers at ${place} (${error.code}).` };
  }
  if (error.code === NOT_A_STORE) {
    return wrong(
      `AWS_ENDPOINT_URL is not the address of an object store: ${place} answers ${error.status}.`,
    );
  }
  return wrong(
    `CTXD_OBJECTS can't be used: ${place} answers ${error.status} ${error.code} where ${needs} is needed.`,
  );
}

/** Compares this clock with the store's, for a message. */
function compare(now: number, other: number | null): string {
  if (other === null) return "differs from";
  const minutes = Math.round((now - other) / 60_000);
  return `is ${Math.abs(minutes)} minutes ${minutes < 0 ? "behind" : "ahead of"}`;
}
