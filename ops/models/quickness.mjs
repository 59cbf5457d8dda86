/**
 * What a model takes of this machine: the catalogue tells what it took where that was measured, and a moment of arithmetic how
 * much slower or quicker the cores are here. An estimate; it counts processor time, so that other work does not disturb it.
 */
const SIZE = 256;
const ROUNDS = 20;
const SECONDS = 0.1;
/** Millions of multiplications and additions in a second, where the catalogue's figures were measured. */
const REFERENCE = 2_100;
/** A call hears silence where speech is made more slowly than it is heard; a core has other things to do, too. */
const MOST_IN_CALLS = 0.7;

const matrix = new Float32Array(SIZE * SIZE).fill(1.0001);
const column = new Float32Array(SIZE).fill(0.5);
const product = new Float32Array(SIZE);

function multiply() {
  for (let row = 0; row < SIZE; row++) {
    let sum = 0;
    for (let at = 0; at < SIZE; at++) sum += matrix[row * SIZE + at] * column[at];
    product[row] = sum;
  }
}

const secondsOf = ({ user, system }) => (user + system) / 1e6;

/** Millions of operations in a second of processor time; the first round is of code that is not compiled yet. */
function measured() {
  for (let round = 0; round < ROUNDS; round++) multiply();
  const begun = process.cpuUsage();
  for (let rounds = ROUNDS; ; rounds += ROUNDS) {
    for (let round = 0; round < ROUNDS; round++) multiply();
    const seconds = secondsOf(process.cpuUsage(begun));
    if (seconds >= SECONDS) return (rounds * SIZE * SIZE * 2) / seconds / 1e6;
  }
}

let speed;

/**
 * Seconds of a core for a second of speech, about, on this machine; undefined for a model whose figure is not known. `operations`: of a
 * second, as measured here.
 */
export const cpuHere = ({ cpu }, operations) =>
  cpu === undefined
    ? undefined
    : Number(((cpu * REFERENCE) / (operations ?? (speed ??= measured()))).toPrecision(2));

/** Whether calls can be spoken with it. */
export const isQuick = (cpu) => cpu <= MOST_IN_CALLS;

/** For people; undefined for a model whose figure is not known. */
export function quicknessOf(entry, operations) {
  const here = cpuHere(entry, operations);
  if (here === undefined) return undefined;
  const verdict = isQuick(here) ? 'quick enough for calls' : 'too slow for calls';
  return `takes about ${here} CPU seconds for a second of speech on this machine: ${verdict}`;
}
