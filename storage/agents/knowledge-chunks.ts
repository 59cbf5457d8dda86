/** Cuts texts into passages, of whole paragraphs if these fit, each with its heading. */
import { setImmediate as breathe } from 'node:timers/promises';
import { LIMITS } from '../../contracts/limits.js';

const { chunk: MOST } = LIMITS.knowledge;
const HEADING = /^#{1,6} /;
const HEADING_LENGTH = 200;
/** Characters to process before yielding to other work. */
const TURN = 64 * 1024;

/** The best place to cut a text that is too long: after a sentence, else at a space, else anywhere. */
function cut(text: string): number {
  const window = text.slice(0, MOST);
  const sentence = Math.max(
    ...['. ', '? ', '! ', '。', '？', '！'].map((end) => window.lastIndexOf(end) + 1),
  );
  if (sentence > MOST / 2) return sentence;
  const space = window.lastIndexOf(' ');
  if (space > MOST / 2) return space;
  const last = window.charCodeAt(MOST - 1);
  return last >= 0xd800 && last <= 0xdbff ? MOST - 1 : MOST;
}

function* pieces(text: string): Generator<string> {
  let rest = text;
  for (; rest.length > MOST; rest = rest.slice(cut(rest)).trimStart())
    yield rest.slice(0, cut(rest)).trimEnd();
  if (rest !== '') yield rest;
}

class Passages {
  #heading = '';
  #lines: string[] = [];
  #length = 0;

  /** Adds a paragraph, and yields the passages that this completes. */
  *add(paragraph: string): Generator<string> {
    const isHeading = HEADING.test(paragraph);
    if (isHeading || this.#length + paragraph.length > MOST) yield* this.end();
    if (isHeading) this.#heading = paragraph.slice(0, HEADING_LENGTH);
    this.#lines.push(paragraph);
    this.#length += paragraph.length + 1;
  }

  *end(): Generator<string> {
    const text = this.#lines.join('\n');
    this.#lines = [];
    this.#length = 0;
    const headed =
      text === '' || this.#heading === '' || HEADING.test(text) ? text : `${this.#heading}\n${text}`;
    // A heading alone is no passage; it goes with the text below it.
    if (headed !== this.#heading) yield* pieces(headed);
  }
}

/** The passages of a text, at most LIMITS.knowledge.chunk characters each. Yields to other work now and then. */
export async function* passagesOf(text: string): AsyncGenerator<string> {
  const passages = new Passages();
  let worked = 0;
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end).trim();
    if (line !== '') yield* passages.add(line);
    worked += line.length + 1;
    at = end < 0 ? text.length : end + 1;
    if (worked > TURN) {
      worked = 0;
      await breathe();
    }
  }
  yield* passages.end();
}
