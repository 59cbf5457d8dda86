/** Tool calls of a streamed answer, put together from the pieces in which servers send them, each with habits of its own. */
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { ToolCall } from '../../contracts/ports/chat.js';
import { isPlainObject } from '../../contracts/schemas/plain-object.js';
import { wellFormed } from '../../contracts/text/text.js';

const MOST = LIMITS.languageModel;

export const failed = (message: string): ServiceError => new ServiceError('provider_failed', { message });

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A part of a tool call in the stream. Every field is optional, because not all models keep to the protocol. */
export interface WireCall {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
  readonly extra_content?: unknown;
}

interface Call {
  id: string;
  name: string;
  arguments: string;
  extra?: object;
}

/** A piece of the text of the arguments; some servers send them whole, as an object. */
const argumentsIn = (value: unknown): string =>
  isPlainObject(value) ? JSON.stringify(value) : textOf(value);

/** Assembles tool calls that arrive in pieces. */
export class StreamedToolCalls {
  readonly #calls: Call[] = [];
  /** The last call of each index. */
  readonly #byIndex = new Map<number, Call>();

  /** Adds a piece of a call; returns its number of characters. */
  add(piece: WireCall | null): number {
    const { index, id: wireId, function: made, extra_content: extra } = piece ?? {};
    const [id, name, args] = [textOf(wireId), textOf(made?.name), argumentsIn(made?.arguments)];
    const call = this.#callOf(Number.isInteger(index) ? (index as number) : undefined, id, name);
    if (id !== '') call.id = id;
    // Some servers repeat the name with each piece.
    if (name !== call.name) call.name += name;
    call.arguments += args;
    if (isPlainObject(extra)) call.extra = extra;
    if (Math.max(call.name.length, call.id.length) > MOST.callName)
      throw failed('The language model made a tool call with too long a name');
    return id.length + name.length + args.length + (isPlainObject(extra) ? JSON.stringify(extra).length : 0);
  }

  /** Some servers omit the index, and some give 0 to every call: a name begins a new call if its id differs. */
  #callOf(index: number | undefined, id: string, name: string): Call {
    const last = index === undefined ? this.#calls.at(-1) : this.#byIndex.get(index);
    const isOther = index === undefined || (id !== '' && id !== last?.id);
    if (last && (name === '' || last.name === '' || !isOther)) return last;
    if (this.#calls.length >= MOST.calls) throw failed('The language model made too many tool calls');
    const call: Call = { id: '', name: '', arguments: '' };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  /** The calls, each with a unique id for its answer. */
  get whole(): readonly ToolCall[] {
    const named = this.#calls.filter(({ name }) => name !== '');
    const calls = named.map((call) => ({ ...call, name: wellFormed(call.name), id: wellFormed(call.id) }));
    const isFirst = ({ id }: Call, index: number): boolean =>
      id !== '' && calls.findIndex((other) => other.id === id) === index;
    return calls.map((call, index) => ({
      ...call,
      arguments: wellFormed(call.arguments),
      id: isFirst(call, index) ? call.id : `call_${index}`,
    }));
  }
}
