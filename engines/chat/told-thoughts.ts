/**
 * What a model thinks before its answer, where its server tells that apart. Nobody hears it; it goes back with the tool calls that
 * followed it, under the names under which it came, as some servers refuse calls without it: `reasoning_content` at DeepSeek and
 * Kimi, `reasoning_details` at OpenRouter, where they hold the signatures of Gemini and Claude.
 */
import { LIMITS } from '../../contracts/limits.js';
import { isPlainObject, type PlainObject } from '../../contracts/schemas/plain-object.js';

const { thoughts: MOST, thoughtDetails: MOST_DETAILS } = LIMITS.languageModel;

/** Members of a detail that arrive in pieces. */
const PIECES = ['text', 'summary', 'data'];

/** Adds a piece to the detail that it continues. */
function continued(detail: PlainObject, piece: PlainObject): PlainObject {
  const told = Object.entries(piece).filter(([, value]) => value !== null && value !== undefined);
  return {
    ...detail,
    ...Object.fromEntries(
      told.map(([name, value]) => {
        const before = detail[name];
        const isMore = PIECES.includes(name) && typeof before === 'string' && typeof value === 'string';
        return [name, isMore ? before + value : value];
      }),
    ),
  };
}

const keyOf = ({ type, index, id }: PlainObject): string => JSON.stringify([type, index, id ?? null]);

export class StreamedReasoning {
  #content = '';
  readonly #details = new Map<string, PlainObject>();
  #length = 0;

  /** Takes what one event tells. */
  add({ reasoning_content: content, reasoning_details: details }: PlainObject): void {
    if (typeof content === 'string') this.#content += content.slice(0, MOST - this.#content.length);
    for (const piece of Array.isArray(details) ? details.filter(isPlainObject) : []) this.#detail(piece);
  }

  /** Beyond the limit nothing is kept, as a shortened signature would be invalid. */
  #detail(piece: PlainObject): void {
    this.#length += JSON.stringify(piece).length;
    if (this.#length > MOST_DETAILS) return this.#details.clear();
    const key = keyOf(piece);
    this.#details.set(key, continued(this.#details.get(key) ?? {}, piece));
  }

  /** Members of the message that carries the calls; undefined if the server has told nothing. */
  get whole(): object | undefined {
    if (this.#content === '' && this.#details.size === 0) return undefined;
    return {
      ...(this.#content !== '' && { reasoning_content: this.#content }),
      ...(this.#details.size > 0 && { reasoning_details: [...this.#details.values()] }),
    };
  }
}
