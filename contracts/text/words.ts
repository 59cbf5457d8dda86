/** The words of a text in any script: Japanese and Chinese have no spaces between theirs. */
let segmenter: Intl.Segmenter | undefined;

/** Words and what is between them. The segmenter is made at first use: it takes 15 ms, which most starts never need. */
export const segmentsOf = (text: string): Intl.Segments =>
  (segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' })).segment(text);
