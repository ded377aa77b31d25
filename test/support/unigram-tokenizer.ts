import { writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Writes a tokenizer like that of XLM-RoBERTa, which the multilingual model has: a Unigram vocabulary,
 * here of single letters.
 */
export function writeUnigramTokenizer(folder: string) {
  const token = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  const special = ["<s>", "<pad>", "</s>", "<unk>"];
  const letters = [..."▁abcdefghijklmnopqrstuvwxyz:", ..."的猫叫咪在哪里备份密码"];
  const metaspace = { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true };
  const tokenizer = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: special.map((content, id) => ({
      ...{ id, content, single_word: false, lstrip: false },
      ...{ rstrip: false, normalized: false, special: true },
    })),
    normalizer: { type: "NFKC" },
    pre_tokenizer: metaspace,
    post_processor: {
      type: "TemplateProcessing",
      single: [token("<s>"), { Sequence: { id: "A", type_id: 0 } }, token("</s>")],
      pair: [
        token("<s>"),
        { Sequence: { id: "A", type_id: 0 } },
        { Sequence: { id: "B", type_id: 0 } },
      ],
      special_tokens: {
        "<s>": { id: "<s>", ids: [0], tokens: ["<s>"] },
        "</s>": { id: "</s>", ids: [2], tokens: ["</s>"] },
      },
    },
    decoder: metaspace,
    model: {
      type: "Unigram",
      unk_id: 3,
      vocab: [...special.map((each) => [each, 0]), ...letters.map((each) => [each, -5])],
      byte_fallback: false,
    },
  };
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
}
