/** A PDF of these pages, each of these lines (ISO 32000-1, section 7.5). */
export function pdf(pages: readonly (readonly string[])[], { title }: { title?: string } = {}) {
  const objects: string[] = [];
  const add = (body: string) => objects.push(body);
  const kids = pages.map((_, at) => `${4 + 2 * at} 0 R`).join(" ");
  add("<< /Type /Catalog /Pages 2 0 R >>");
  add(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  for (const [at, lines] of pages.entries()) {
    const text = lines.map((line) => `(${line.replace(/[()\\]/g, "\\$&")}) Tj 0 -14 Td`).join("\n");
    const stream = `BT /F1 12 Tf 72 720 Td\n${text}\nET`;
    const font = "/Resources << /Font << /F1 3 0 R >> >>";
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] ${font} /Contents ${5 + 2 * at} 0 R >>`,
    );
    add(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
  }
  add(`<< /CreationDate (D:20240301120000Z) ${title ? `/Title (${title})` : ""} >>`);
  return fileOf(objects, `/Info ${objects.length} 0 R`);
}

/** A PDF with a page whose content is packed a number of times. */
export function packedPdf(content: Buffer, times: number): Buffer {
  const filters = "/FlateDecode ".repeat(times);
  return fileOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>",
    `<< /Length ${content.length} /Filter [${filters}] >>\nstream\n${content.toString("latin1")}\nendstream`,
  ]);
}

function fileOf(objects: readonly string[], more = ""): Buffer {
  let file = "%PDF-1.4\n";
  const offsets = objects.map((body, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${body}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const start = file.length;
  const trailer = `<< /Size ${objects.length + 1} /Root 1 0 R ${more} >>`;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  return Buffer.from(`${file}trailer\n${trailer}\nstartxref\n${start}\n%%EOF\n`, "latin1");
}
