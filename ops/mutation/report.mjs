/**
 * Mutants in words. A mutant is as mutation-testing-report-schema has it; one of a number has `original` besides and no
 * end of its place.
 */

const DETECTED = ['Killed', 'Timeout'];
const UNDETECTED = ['Survived', 'NoCoverage'];

export const isUndetected = ({ status }) => UNDETECTED.includes(status);

const oneLine = (text) => text.replace(/\s+/g, ' ').slice(0, 120);

/** `text` from the start of a place to its end, or to the end of its first line. */
function excerpt(text, { start, end }) {
  const line = text.split('\n')[start.line - 1];
  return line.slice(start.column - 1, end?.line === start.line ? end.column - 1 : undefined);
}

/** `[Survived] actors/a.ts:3:7 StringLiteral: 'a' → ""` */
export function describe(file, text, { status, mutatorName, location, original, replacement }) {
  const { line, column } = location.start;
  const was = original ?? excerpt(text, location);
  return `[${status}] ${file}:${line}:${column} ${mutatorName}: ${oneLine(was)} → ${oneLine(replacement)}`;
}

/** Mutants that cannot be loaded count on neither side: they say nothing about tests. */
export function score(mutants) {
  const detected = mutants.filter(({ status }) => DETECTED.includes(status)).length;
  const undetected = mutants.filter(isUndetected).length;
  const all = detected + undetected;
  const percent = all === 0 ? 100 : Math.floor((100 * detected) / all);
  return `${detected} killed, ${undetected} survived (${percent} %)`;
}
