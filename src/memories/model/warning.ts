import { type Static, Type } from "@sinclair/typebox";

/** A warning about a memory that was saved nevertheless. */
export const Warning = Type.Object({
  code: Type.Literal("secret"),
  path: Type.String({ description: "JSON pointer to the field.", examples: ["/content"] }),
  message: Type.String({ examples: ["Contains what looks like a secret: github-token."] }),
});
export type Warning = Static<typeof Warning>;
