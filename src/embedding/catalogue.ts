import type { DownloadableModel } from "./catalogue-download.ts";
import { builtInModel, modelFiles } from "./manifest.ts";
import { generatedFiles, type ModelDescription, modelUsage } from "./model-folder.ts";

/** A model of `ctxd model list`. */
interface CatalogueModel {
  readonly name: string;
  readonly languages: string;
  /** A few words about its purpose. */
  readonly use: string;
  /** Where it is downloaded from; null for the built-in model. */
  readonly fetched: DownloadableModel | null;
}

export const BUILT_IN = "bge-small";

const HOST = "https://huggingface.co";

/**
 * All models. Hashes and sizes are those that Hugging Face publishes for these revisions. Other programs
 * that pin the same revisions check the same ones.
 */
export const CATALOGUE: readonly CatalogueModel[] = [
  {
    name: BUILT_IN,
    languages: "English",
    use: "fast and small",
    fetched: null,
  },
  {
    name: "multilingual-e5-small",
    languages: "about 100, such as Chinese, German, Arabic",
    use: "memories in languages other than English; vectors as long as bge-small's",
    fetched: {
      address: `${HOST}/intfloat/multilingual-e5-small/resolve/614241f622f53c4eeff9890bdc4f31cfecc418b3`,
      description: describe({
        id: "multilingual-e5-small-int8-dd476dd0",
        title: "multilingual-e5-small (int8 ONNX) by intfloat",
        padding: { id: 1, token: "<pad>" },
        files: [
          {
            name: "model.onnx",
            source: { path: "onnx/model_qint8_avx512_vnni.onnx" },
            bytes: 118_346_824,
            sha256: "dd476dd0c2514e9b9be83aeb3853fac0763e0bdf4a71645407587d77c48a2d88",
          },
          {
            name: "tokenizer.json",
            source: { path: "tokenizer.json" },
            bytes: 17_082_730,
            sha256: "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
          },
        ],
      }),
    },
  },
  {
    name: "bge-base",
    languages: "English",
    use: "more precise according to its authors; vectors twice as long, slower",
    fetched: {
      address: `${HOST}/Xenova/bge-base-en-v1.5/resolve/4d6cd88e18e51a5e020c2c305726d76ada9c03cf`,
      description: describe({
        id: "bge-base-en-v1.5-int8-c9729cc8",
        title: "bge-base-en-v1.5 (int8 ONNX) by BAAI, converted by Xenova",
        padding: { id: 0, token: "[PAD]" },
        files: [
          {
            name: "model.onnx",
            source: { path: "onnx/model_quantized.onnx" },
            bytes: 110_083_337,
            sha256: "c9729cc84cbd0e9fecc759505d2be65916c9fe05222d7ea26c65fcb3382af38d",
          },
          {
            name: "tokenizer.json",
            source: { path: "tokenizer.json" },
            bytes: 711_396,
            sha256: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
          },
        ],
      }),
    },
  },
];

/** The model with a name; null when the catalogue has none. */
export function catalogueModel(name: string): CatalogueModel | null {
  return CATALOGUE.find((model) => model.name === name) ?? null;
}

export function sizeOf({ fetched }: CatalogueModel): number {
  const files = fetched ? fetched.description.files : modelFiles().files;
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function describe({
  id,
  title,
  files,
  padding,
}: Pick<ModelDescription, "id" | "title" | "files"> & {
  padding: { id: number; token: string };
}): ModelDescription {
  const usage = modelUsage(id);
  if (!usage) throw new Error(`the usage of ${id} is unknown`);
  const { window, passage } = builtInModel;
  return {
    id,
    title,
    licence: "MIT",
    source: { folder: "ctxd model fetch" },
    files: [...files, ...generatedFiles(window, padding)],
    graph: "model.onnx",
    ...usage,
    window,
    passage,
  };
}
