import { expect, test } from "bun:test";
import { readContent } from "../support/import.ts";
import { outcomeOf } from "../support/outcome.ts";
import { pdf } from "../support/pdf.ts";
import { zip } from "../support/zip.ts";

const PAGES = [["Bees (honey) hum in the gar-", "den of the house."], [], ["Tea is hot."]];

test("a PDF is read page by page, with its title as the subject", async () => {
  const read = await readContent(pdf(PAGES, { title: "Notes" }), "file.pdf");
  expect(read.name).toBe("a PDF");
  expect(read.memories).toMatchObject([
    {
      content: "Notes: Bees (honey) hum in the garden of the house.",
      metadata: { document: "file", page: 1 },
      created_at: "2024-03-01T12:00:00.000Z",
    },
    { content: "Notes: Tea is hot.", metadata: { document: "file", page: 3 } },
  ]);
  expect(read.places).toEqual(["page 1", "page 3"]);
  expect(read.leftOut).toEqual(["pages of a PDF without text: 1"]);
});

test("a PDF in an archive is called by its name there", async () => {
  const read = await readContent(zip([{ name: "docs/bees.pdf", content: pdf(PAGES) }]));
  expect(read.memories[1]?.content).toBe("bees: Tea is hot.");
  expect(read.places[1]).toBe("docs/bees.pdf, page 3");
});

test("a PDF without any text is not taken for one that was read", async () => {
  expect(await outcomeOf(readContent(pdf([[], []])))).toThrow("has no text: its pages are images");
});
