/** @jsxRuntime automatic @jsxImportSource #pages */
import { expect, test } from "bun:test";
import type { Child } from "../../src/pages/jsx-runtime.ts";

const HOSTILE = `</p><script>alert("1")</script>&lt;'`;
const ESCAPED = "&lt;/p&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;lt;&#x27;";

function Quote({ by, children }: { by: string; children?: Child }) {
  return <blockquote cite={by}>{children}</blockquote>;
}

test("text is escaped in content and attributes", () => {
  expect(String(<p>{HOSTILE}</p>)).toBe(`<p>${ESCAPED}</p>`);
  expect(String(<p title={HOSTILE} />)).toBe(`<p title="${ESCAPED}"></p>`);
  expect(String(<Quote by={HOSTILE}>{HOSTILE}</Quote>)).toBe(
    `<blockquote cite="${ESCAPED}">${ESCAPED}</blockquote>`,
  );
  expect(
    String(
      <>
        {HOSTILE}
        {[HOSTILE]}
      </>,
    ),
  ).toBe(ESCAPED + ESCAPED);
});

test("only values made by JSX are accepted as markup", () => {
  const forged: unknown = { toString: () => "<script>" };
  expect(() => String(<p>{forged as Child}</p>)).toThrow();
});

test("markup within markup stays markup", () => {
  const inner = <b>{"a & b"}</b>;
  expect(String(<p>x{inner}</p>)).toBe("<p>x<b>a &amp; b</b></p>");
});

test("null, undefined and false render nothing, 0 renders 0", () => {
  expect(
    String(
      <p>
        {null}
        {undefined}
        {false}
        {0}
      </p>,
    ),
  ).toBe("<p>0</p>");
});

test("void elements have no end tag and boolean attributes no value", () => {
  expect(String(<input name="x" disabled={true} required={false} />)).toBe(
    '<input name="x" disabled>',
  );
});
