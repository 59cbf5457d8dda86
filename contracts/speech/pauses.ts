/** Pauses in a spoken line, written as in SSML: `<break time="800ms"/>`. */
const BREAK = /<break\s+time="(\d{1,5}(?:\.\d{1,3})?)(ms|s)"\s*\/>/g;

/** In milliseconds. */
export const pausesIn = (line: string): readonly number[] =>
  [...line.matchAll(BREAK)].map(([, amount, unit]) => Number(amount) * (unit === 's' ? 1000 : 1));

/** The texts between the pauses, one more than there are pauses. `split` puts amount and unit of each pause between them. */
export const textsIn = (line: string): readonly string[] =>
  line
    .split(BREAK)
    .filter((_, index) => index % 3 === 0)
    .map((text) => text.trim());
