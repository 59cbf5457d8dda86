/**
 * Calls as Python writes them: `[weather(city="Bonn", days=2), clock()]` (Llama 4, Gemma), and `weather.call(city="Bonn")`
 * (Llama 3). Literals only: what is no literal is no call.
 */
import type { WrittenCall } from './written-call.js';

const SPACE = /\s*/y;
const NAME = /[A-Za-z_][\w.-]*/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/sy;
const MOST_DEPTH = 16;

const WORDS: Readonly<Record<string, unknown>> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

const unescaped = (text: string): string =>
  text.replace(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);

class NoLiteral extends Error {}

class Reader {
  #at = 0;
  #depth = 0;

  constructor(private readonly text: string) {}

  get isOver(): boolean {
    this.take(SPACE);
    return this.#at === this.text.length;
  }

  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text);
    if (!found) return undefined;
    this.#at += found[0].length;
    return found;
  }

  /** Whether that text is next; it is skipped then. */
  skips(text: string): boolean {
    this.take(SPACE);
    if (!this.text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  must(text: string): void {
    if (!this.skips(text)) throw new NoLiteral();
  }

  name(): string {
    this.take(SPACE);
    const found = this.take(NAME);
    if (!found) throw new NoLiteral();
    return found[0];
  }

  /** Items until the closing bracket, separated by commas. */
  list<Item>(closing: string, item: () => Item): Item[] {
    const items: Item[] = [];
    if ((this.#depth += 1) > MOST_DEPTH) throw new NoLiteral();
    while (!this.skips(closing)) {
      items.push(item());
      if (!this.skips(',')) {
        this.must(closing);
        break;
      }
    }
    this.#depth -= 1;
    return items;
  }

  value(): unknown {
    this.take(SPACE);
    const string = this.take(STRING);
    if (string) return unescaped(string[1] ?? string[2] ?? '');
    const number = this.take(NUMBER);
    if (number) return Number(number[0]);
    if (this.skips('[')) return this.list(']', () => this.value());
    if (this.skips('{')) return Object.fromEntries(this.list('}', () => this.#member()));
    const word = this.name();
    if (!(word in WORDS)) throw new NoLiteral();
    return WORDS[word];
  }

  #member(): readonly [string, unknown] {
    const name = String(this.value());
    this.must(':');
    return [name, this.value()];
  }

  call(): WrittenCall {
    const name = this.name();
    this.must('(');
    const args = this.list(')', () => this.#argument());
    return { name: name.replace(/\.call$/, ''), arguments: Object.fromEntries(args) };
  }

  #argument(): readonly [string, unknown] {
    const name = this.name();
    this.must('=');
    return [name, this.value()];
  }
}

/** The calls of a text that is nothing but one call, or a list of them; none if it is anything else. */
export function pythonicCalls(text: string): readonly WrittenCall[] {
  try {
    const reader = new Reader(text);
    const print = reader.skips('print(');
    const calls = reader.skips('[') ? reader.list(']', () => reader.call()) : [reader.call()];
    if (print) reader.must(')');
    return reader.isOver ? calls : [];
  } catch (error) {
    if (error instanceof NoLiteral) return [];
    throw error;
  }
}
