import { tokensOf } from "../indexes/tokens.ts";
import { HAS_UNSPACED } from "../indexes/unspaced-scripts.ts";

const WORDS_OF_TOPIC = 3;
/** Exponent of a word's rareness: the higher, the more a word counts that few memories have. */
const RARENESS_EXPONENT = 2;
/** Memories from which on a word must be in at least two of them to name their topic. */
const MEMORIES_FOR_TWO = 4;
/** Words of at least three letters. Contractions such as `don't` are left out, a possessive `'s` is cut off. */
const WORD = /(?<![\p{L}\p{N}'’])\p{L}[\p{L}\p{M}\p{N}]{2,}(?!['’][^s])/gu;

const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** For each stem the number of texts that have it, by the written form of the word. */
type FormCounts = Map<string, Map<string, number>>;

/**
 * For each topic the words that most of its texts have and few other texts, in their most frequent form.
 * @param topicOf for each text the number of its topic
 */
export function topicWords(
  texts: readonly string[],
  topicOf: Uint8Array,
  topics: number,
): string[][] {
  const textsWith = new Map<string, number>();
  const formsIn = Array.from({ length: topics }, (): FormCounts => new Map());
  const sizes = new Uint32Array(topics);
  const stemOf = createStemmer();
  for (const [point, text] of texts.entries()) {
    const topic = topicOf[point] ?? 0;
    sizes[topic] = (sizes[topic] ?? 0) + 1;
    for (const [stem, word] of firstForms(text, stemOf)) {
      textsWith.set(stem, (textsWith.get(stem) ?? 0) + 1);
      countForm(formsIn[topic], stem, word);
    }
  }
  return formsIn.map((forms, topic) => {
    const least = (sizes[topic] ?? 0) >= MEMORIES_FOR_TWO ? 2 : 1;
    const rated = [...forms].flatMap(([stem, counts]) => {
      const times = [...counts.values()].reduce((sum, count) => sum + count, 0);
      if (times < least) return [];
      const rareness = topics === 1 ? 1 : Math.log(texts.length / (textsWith.get(stem) ?? times));
      return [{ counts, rate: times * rareness ** RARENESS_EXPONENT }];
    });
    const best = rated.filter(({ rate }) => rate > 0).sort((a, b) => b.rate - a.rate);
    return best.slice(0, WORDS_OF_TOPIC).map(({ counts }) => mostFrequent(counts));
  });
}

/** The stems of a text, each with the form of the first word that has it. */
function firstForms(
  text: string,
  stemOf: (word: string) => string | null,
): ReadonlyMap<string, string> {
  const forms = new Map<string, string>();
  for (const word of wordsOf(text)) {
    const stem = stemOf(word);
    if (stem !== null && !forms.has(stem)) forms.set(stem, word);
  }
  return forms;
}

function countForm(counts: FormCounts | undefined, stem: string, word: string): void {
  const forms = counts?.get(stem) ?? new Map<string, number>();
  forms.set(word, (forms.get(word) ?? 0) + 1);
  counts?.set(stem, forms);
}

/** Stems words, each only once; null for a word that the index ignores. */
function createStemmer() {
  const stems = new Map<string, string | null>();
  return (word: string): string | null => {
    const known = stems.get(word);
    if (known !== undefined) return known;
    const stem = tokensOf(word)[0] ?? null;
    stems.set(word, stem);
    return stem;
  };
}

function mostFrequent(forms: ReadonlyMap<string, number>): string {
  return [...forms].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}

function wordsOf(text: string): string[] {
  if (!HAS_UNSPACED.test(text)) return text.match(WORD) ?? [];
  return [...segmenter.segment(text)].flatMap(({ segment, isWordLike }) =>
    isWordLike && segment.length > 1 ? segment : [],
  );
}
