/**
 * What the model wants done in the world: an intent is a tool with its arguments, as long as nobody knows whether it has been
 * done. The same call meanwhile is the same intent: it joins the one that runs, or, after a takeover or a timeout, is sent
 * again under the same key. Only once a call has been answered does another one stand for a new wish.
 */
import { createHash } from 'node:crypto';
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { SessionItem } from '../../../../contracts/ports/sessions/sessions.js';
import { parseArguments } from './arguments.js';
import { isUndecided, type ToolResult } from './tool.js';

/** A call as the model made it; `arguments` is JSON text. */
interface Called {
  readonly name: string;
  readonly arguments: string;
}

/** A call with an effect that runs, and the number of those that wait for its result. */
export interface Undertaking {
  readonly result: Promise<ToolResult>;
  waiting: number;
}

/** The value with the keys of all objects sorted. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** Arguments in one spelling: keys sorted, without spaces. What cannot be read stays as it is. */
export function canonical(args: string): string {
  try {
    return JSON.stringify(sorted(parseArguments(args))) ?? args;
  } catch {
    return args;
  }
}

/** SHA-256, in hex, of the JSON array of session, tool, canonical arguments and number. */
export const keyOf = (session: string, { name, arguments: args }: Called, number: number): string =>
  createHash('sha256')
    .update(JSON.stringify([session, name, canonical(args), number]))
    .digest('hex');

const wishOf = ({ name, arguments: args }: Called): string => JSON.stringify([name, canonical(args)]);

export class Intents {
  /** Calls whose outcome is known, by tool and arguments. */
  readonly #answered = new Map<string, number>();
  readonly #running = new Map<string, Undertaking>();

  /** `said`: the record of the process that had the call before. */
  constructor(
    private readonly session: string,
    said: readonly SessionItem[] = [],
  ) {
    const calls = new Map<string, Called>();
    for (const item of said) {
      if (item.type === 'tool_call') calls.set(item.callId, { name: item.toolName, arguments: item.input });
      const call = item.type === 'tool_result' && !isUndecided(item) ? calls.get(item.callId) : undefined;
      if (call) this.#note(wishOf(call));
    }
  }

  /** The same call, if it runs. */
  running(call: Called): Undertaking | undefined {
    return this.#running.get(wishOf(call));
  }

  /** Starts `work`, which never rejects, under the key of this intent. */
  begin(call: Called, work: (key: string) => Promise<ToolResult>): Undertaking {
    const wish = wishOf(call);
    const number = 1 + (this.#answered.get(wish) ?? 0);
    const result = work(keyOf(this.session, call, number)).then((result) => {
      this.#running.delete(wish);
      if (!result.undecided) this.#note(wish);
      return result;
    });
    const undertaking = { result, waiting: 0 };
    this.#running.set(wish, undertaking);
    return undertaking;
  }

  #note(wish: string): void {
    this.#answered.set(wish, 1 + (this.#answered.get(wish) ?? 0));
  }
}
