/** A form of a page, with the fields that a browser sends. */
export interface Form {
  readonly action: string;
  readonly method: string;
  readonly fields: [name: string, value: string][];
}

/** The forms of a page, without their buttons: the test decides which one to press. */
export function parseForms(html: string): Form[] {
  const forms: Form[] = [];
  const attribute = (element: HTMLRewriterTypes.Element, name: string) =>
    decodeEntities(element.getAttribute(name) ?? "");
  new HTMLRewriter()
    .on("form", {
      element: (element) =>
        void forms.push({
          action: attribute(element, "action"),
          method: attribute(element, "method"),
          fields: [],
        }),
    })
    .on("form input", {
      element(element) {
        const isUnchecked =
          element.getAttribute("type") === "checkbox" && !element.hasAttribute("checked");
        if (isUnchecked) return;
        forms.at(-1)?.fields.push([attribute(element, "name"), attribute(element, "value")]);
      },
    })
    .transform(html);
  return forms;
}

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#x27": "'", amp: "&" };

function decodeEntities(text: string): string {
  return text.replaceAll(/&(lt|gt|quot|#x27|amp);/g, (whole, name) => ENTITIES[name] ?? whole);
}
