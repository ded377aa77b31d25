import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isKept, readStores, textOf } from "../stores.ts";

/** Memories and questions about them. */
export interface Lesson {
  source: string;
  memories: string[];
  /** `evidence` holds places in `memories`. */
  questions: { text: string; evidence: number[] }[];
}

/** Words of a transcript's piece: as many as a long memory has. */
const PIECE = { least: 55, most: 110 };
/** Of the pieces of a transcript that answer no question, every so many stay. */
const OTHER_PIECES = 6;
/** A shorter line answers nothing by itself. */
const LEAST_WORDS = 7;

/** The stores that were written for this project: those to learn from, and those that are kept. */
export async function ownLessons(): Promise<{ learnt: Lesson[]; kept: Lesson[] }> {
  const stores = await readStores();
  const lessons = stores.map(
    ({ memories, questions, language }): Lesson => ({
      source: language === "en" ? "stores" : "languages",
      memories: memories.map(textOf),
      questions: questions
        .filter(({ evidence }) => evidence.length > 0)
        .map(({ question, evidence }) => ({
          text: question,
          evidence: evidence.map((id) => memories.findIndex((memory) => memory.id === id)),
        })),
    }),
  );
  return {
    learnt: lessons.filter((_, at) => !isKept(at)),
    kept: lessons.filter((_, at) => isKept(at)),
  };
}

interface Friends {
  data: {
    paragraphs: {
      "utterances:": { speakers: string[]; utterance: string }[];
      qas: { question: string; answers: { utterance_id: number }[] }[];
    }[];
  }[];
}

/** FriendsQA: questions about scenes. @param folder its repository's `dat` */
export async function friendsLessons(folder: string): Promise<Lesson[]> {
  const lessons: Lesson[] = [];
  for (const name of ["friendsqa_dev.json", "friendsqa_tst.json"]) {
    const { data }: Friends = await Bun.file(join(folder, name)).json();
    for (const { "utterances:": lines, qas } of data.flatMap(({ paragraphs }) => paragraphs)) {
      const isNote = lines.map(({ speakers }) => speakers[0]?.startsWith("#") ?? true);
      const memories = lines.map(({ speakers, utterance }, at) => {
        const names = speakers.map((speaker) => speaker.split(" ")[0]).join(" and ");
        return isNote[at] ? plain(utterance) : `${names}: ${plain(utterance)}`;
      });
      const questions = qas.map(({ question, answers }) => ({
        text: plain(question),
        evidence: [...new Set(answers.map(({ utterance_id }) => utterance_id))].filter(
          (at) => !isNote[at] && (memories[at]?.split(" ").length ?? 0) >= LEAST_WORDS,
        ),
      }));
      lessons.push({
        source: "FriendsQA",
        memories,
        questions: questions.filter(({ evidence }) => evidence.length > 0),
      });
    }
  }
  return lessons;
}

interface Meeting {
  specific_query_list: { query: string; answer: string; relevant_text_span: string[][] }[];
  meeting_transcripts: { speaker: string; content: string }[];
}

/** QMSum: questions about meetings, with pieces of the transcript and the answers as memories. @param folder its repository's `data/ALL` */
export async function meetingLessons(folder: string): Promise<Lesson[]> {
  const lessons: Lesson[] = [];
  for (const part of ["train", "val", "test"]) {
    for (const name of (await readdir(join(folder, part))).sort()) {
      const meeting: Meeting = await Bun.file(join(folder, part, name)).json();
      lessons.push(lessonOf(meeting));
    }
  }
  return lessons;
}

function lessonOf({ meeting_transcripts: lines, specific_query_list: queries }: Meeting): Lesson {
  const pieces: { text: string; from: number; to: number }[] = [];
  let piece = "";
  let from = 0;
  for (const [at, { speaker, content }] of lines.entries()) {
    piece = `${piece} ${speaker}: ${plain(content)}`.trim();
    if (wordsOf(piece).length < PIECE.least) continue;
    pieces.push({ text: wordsOf(piece).slice(0, PIECE.most).join(" "), from, to: at });
    [piece, from] = ["", at + 1];
  }
  const answers = queries.map(({ query, answer, relevant_text_span: spans }) => {
    const wanted = termsOf(`${answer} ${query}`);
    const [best] = spans
      .flatMap(([start, end]) =>
        pieces.filter((each) => each.from <= Number(end) && each.to >= Number(start)),
      )
      .sort((a, b) => sharedTerms(wanted, b.text) - sharedTerms(wanted, a.text));
    return { query, texts: [plain(answer), ...(best ? [best.text] : [])] };
  });
  const others = pieces.filter((_, at) => at % OTHER_PIECES === 0);
  const memories = [
    ...new Set([...answers.flatMap(({ texts }) => texts), ...others.map(({ text }) => text)]),
  ];
  const questions = answers.map(({ query, texts }) => ({
    text: plain(query),
    evidence: texts.map((text) => memories.indexOf(text)),
  }));
  return { source: "QMSum", memories, questions };
}

function sharedTerms(wanted: ReadonlySet<string>, text: string): number {
  const terms = termsOf(text);
  return [...terms].filter((term) => wanted.has(term)).length / Math.sqrt(10 + terms.size);
}

function termsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[a-z]{4,}/g) ?? []);
}

function wordsOf(text: string): string[] {
  return text.split(" ");
}

/** A text as people write it, of words that a tokenizer has separated. */
function plain(text: string): string {
  return text
    .replace(/\{\w+\}|<\w+>/g, "")
    .replace(/\s+([.,!?;:%)])/g, "$1")
    .replace(/\s+(n't|'s|'re|'ve|'ll|'d|'m)\b/g, "$1")
    .replace(/\b(gon|wan) na\b/g, "$1na")
    .replace(/\(\s+/g, "(")
    .replace(/\s+/g, " ")
    .trim();
}
