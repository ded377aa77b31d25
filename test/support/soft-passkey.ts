import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

const sha256 = (data: Uint8Array | string) => createHash("sha256").update(data).digest();
const text = (data: Uint8Array) => Buffer.from(data).toString("base64url");

/** CBOR (RFC 8949) of what passkeys need: small integers, byte strings, texts, lists and maps. */
export type Cbor = number | string | Uint8Array | Cbor[] | Map<number | string, Cbor>;

function cbor(value: Cbor): Buffer {
  const head = (major: number, count: number) => {
    if (count < 24) return Buffer.from([(major << 5) | count]);
    if (count < 256) return Buffer.from([(major << 5) | 24, count]);
    return Buffer.from([(major << 5) | 25, count >> 8, count & 255]);
  };
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    return Buffer.concat([head(3, bytes.length), bytes]);
  }
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  const entries = [...value].flatMap(([name, item]) => [cbor(name), cbor(item)]);
  return Buffer.concat([head(5, value.size), ...entries]);
}

/** The answers of a device that is honest, or lies. */
export interface Telling {
  origin: string;
  rpId?: string;
  /** Whether it says that it knows its user. */
  verified?: boolean;
  counter?: number;
  userHandle?: string;
  type?: string;
  /** What the device says of itself; nothing by default. */
  statement?: { format: string; fields: Map<string, Cbor> };
}

interface Options {
  challenge: string;
}

/** A passkey in the hands of a test, which can say what no browser would. */
export function createSoftPasskey() {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = randomBytes(32);

  const clientData = ({ challenge }: Options, type: string, origin: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

  const head = (telling: Telling, flags: number) => {
    const { rpId = "localhost", verified = true, counter = 0 } = telling;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    // User present, user verified.
    return Buffer.concat([
      sha256(rpId),
      Buffer.from([0x01 | (verified ? 0x04 : 0) | flags]),
      count,
    ]);
  };

  return {
    id: text(id),
    publicKey,

    /** What a statement of the device is about, beside its key. */
    clientDataHash: (options: Options, { origin }: Telling): Buffer =>
      sha256(clientData(options, "webauthn.create", origin)),

    /** The response of a browser that has created this passkey. */
    create(options: Options, telling: Telling): string {
      const { x = "", y = "" } = publicKey.export({ format: "jwk" });
      const key = new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, "base64url")],
        [-3, Buffer.from(y, "base64url")],
      ]);
      const length = Buffer.from([0, id.length]);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, cbor(key)]);
      const authData = Buffer.concat([head(telling, 0x40), attested]);
      const object = new Map<string, Cbor>([
        ["fmt", telling.statement?.format ?? "none"],
        ["attStmt", telling.statement?.fields ?? new Map()],
        ["authData", authData],
      ]);
      return JSON.stringify({
        id: text(id),
        rawId: text(id),
        type: "public-key",
        clientExtensionResults: {},
        response: {
          clientDataJSON: text(
            clientData(options, telling.type ?? "webauthn.create", telling.origin),
          ),
          attestationObject: text(cbor(object)),
          transports: ["internal"],
        },
      });
    },

    /** What a browser sends when this passkey has signed. */
    get(options: Options, telling: Telling): string {
      const client = clientData(options, telling.type ?? "webauthn.get", telling.origin);
      const authenticatorData = head(telling, 0);
      const signature = sign(
        "sha256",
        Buffer.concat([authenticatorData, sha256(client)]),
        privateKey,
      );
      return JSON.stringify({
        id: text(id),
        rawId: text(id),
        type: "public-key",
        clientExtensionResults: {},
        response: {
          clientDataJSON: text(client),
          authenticatorData: text(authenticatorData),
          signature: text(signature),
          ...(telling.userHandle !== undefined && {
            userHandle: text(Buffer.from(telling.userHandle)),
          }),
        },
      });
    },
  };
}
