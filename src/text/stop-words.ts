/**
 * English words that say nothing about the subject of a text. Searches by words ignore them. The list
 * includes question words, and single letters such as the `s` of a split "'s".
 */
export const STOP_WORDS: readonly string[] = `
  a about after all also am an and any are as at be because been before being but by can could d did
  do does doing down for from had has have having he her here hers him his how i if in into is it
  its just ll m me might more most my no nor not of off on once only or other our out over own
  re s shall she should so some such t than that the their theirs them then there these they this
  those through to too until up us ve very was we were what when where which while who whom whose
  why will with would you your yours`
  .trim()
  .split(/\s+/);

/** Function words of other languages. A question in one of them is not about these words either. */
const FUNCTION_WORDS = [
  // German
  `der die das den dem des ein eine einen einem einer eines und oder aber sondern von vom zu zum zur auf für mit ohne bei
  beim in im ins an am aus nach vor über unter zwischen durch gegen um bis seit als wie dass daß wenn ob weil damit ich du
  er sie es wir ihr mich mir dich dir ihn ihm uns euch ihnen mein meine meinen meinem meiner meines dein deine deinen
  deinem deiner sein seine seinen seinem seiner ihre ihren ihrem ihrer unser unsere unseren unserem unserer euer eure ist
  sind war waren bin bist sei wird werden wurde wurden hat habe haben hatte hatten kann kannst können konnte muss müssen
  soll sollen will wollen darf dürfen was wer wen wem wessen wo wohin woher wann warum wieso welche welcher welches welchen
  welchem denn doch noch nochmal schon auch nur da hier dann also so mal bitte nicht kein keine keinen keinem keiner man
  sich dieser diese dieses diesen diesem etwas`,
  // French
  `le la les l un une des du de d et ou mais à au aux en dans sur sous pour par avec sans chez entre vers que qu qui quoi
  dont où quand comment pourquoi combien quel quelle quels quelles est sont était étaient être a ont avait avoir ai suis
  sommes êtes je j tu il elle on nous vous ils elles me m te t se s lui leur leurs mon ma mes ton ta tes son sa ses notre
  nos votre vos ce cet cette ces c ça cela y ne n pas plus si`,
  // Spanish
  `el la los las lo un una unos unas y e o u pero de del a al en con sin por para entre sobre hasta desde que quien quién
  quiénes qué cuál cuáles cuándo cómo dónde cuánto cuánta cuántos cuántas cuando como donde es son era eran ser está están
  estaba estar ha han había he hay fue fueron tiene tienen yo tú él ella nosotros ellos ellas me te se nos le les mi mis
  tu tus su sus nuestro nuestra nuestros nuestras este esta estos estas ese esa eso esto no ni si sí ya más`,
  // Italian
  `il lo la i gli le l un uno una e o ma di del dello della dei degli delle d a al allo alla ai agli alle da dal dallo
  dalla dai dagli dalle in nel nello nella nei negli nelle con su sul sullo sulla sui sugli sulle per tra fra senza che
  chi cui qual quale quali quando come dove perché quanto quanta quanti quante è sono era erano essere ha hanno aveva avere ho
  hai io tu lui lei noi voi loro mi ti si ci vi mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri
  nostre questo questa questi queste non più`,
  // Dutch
  `de het een en of maar van voor met zonder bij in op aan uit naar over onder tussen door tegen om tot sinds als dat die
  dit deze wie wat waar wanneer waarom hoe welk welke is zijn was waren ben bent wordt worden werd werden heeft hebben had
  hadden heb kan kunnen moet moeten zal zullen wil ik jij je u hij zij ze wij we jullie mij me jou hem haar ons onze mijn
  jouw hun hen er niet geen ook nog dan`,
  // Portuguese
  `o a os as um uma uns umas e ou mas de do da dos das em no na nos nas num numa ao à aos às com sem por pelo pela pelos
  pelas para entre sobre até desde que quem qual quais quando como onde porque quanto quanta quantos quantas é são era
  eram ser está estão estava estar foi foram tem têm tinha ter há eu tu você ele ela nós vocês eles elas me te se lhe lhes
  meu minha meus minhas teu tua seu sua seus suas nosso nossa nossos nossas este esta estes estas esse essa isto isso não
  mais`,
].map((words) => new Set(words.split(/\s+/)));
const ENGLISH = new Set(STOP_WORDS);
/** Words that are no part of a path, an option or a name with a hyphen. */
const WORD = /(?<![\p{L}\p{N}/_.-])[\p{L}\p{N}]+(?![\p{L}\p{N}/_-])/gu;
/** Fewer different function words of a language may be those of a name, such as "Rio de Janeiro"; of a question two are enough. */
const FEWEST = 3;
const ASKS = /\?\s*$/;

/** A text without its function words, if it is in another language than English. */
export function withoutFunctionWords(text: string): string {
  const empty = functionWordsIn(text);
  if (empty.size === 0) return text;
  let at = 0;
  return text
    .normalize("NFC")
    .replace(WORD, (word) => (!isName(word, at++) && empty.has(word.toLowerCase()) ? "" : word));
}

/**
 * The function words in a text that is in another language than English, in lower case; none in English, and in a text of
 * names. A word with a capital is a name, unless the text begins with it.
 */
export function functionWordsIn(text: string): ReadonlySet<string> {
  const said = [...text.normalize("NFC").matchAll(WORD)];
  const words = said.flatMap(([word], at) => (isName(word, at) ? [] : word.toLowerCase()));
  // A single letter may be anything.
  const longer = new Set(words.filter(({ length }) => length > 1));
  const countOf = (known: ReadonlySet<string>) => longer.intersection(known).size;
  const counts = FUNCTION_WORDS.map(countOf);
  const most = Math.max(...counts);
  const known = FUNCTION_WORDS[counts.indexOf(most)] ?? ENGLISH;
  const asks = ASKS.test(text) && known.has(words[0] ?? "");
  const isOther = most >= FEWEST - Number(asks) && most > countOf(ENGLISH);
  return isOther ? new Set(words).intersection(known) : new Set();
}

/** @param place 0 for the first word of a text, which has a capital in any case */
function isName(word: string, place: number): boolean {
  return place > 0 && /^\p{Lu}/u.test(word);
}
