/**
 * Regular expressions written by clients, matched in bounded time: the product of the pattern's steps and the
 * text's length. All alternatives run in parallel (Thompson's construction), so there are no backreferences and no lookahead
 * or lookbehind. Case is ignored.
 */
import { LIMITS } from '../limits.js';

const { patternSteps: MOST_STEPS } = LIMITS.agentTest;
const MOST_REPEATS = 100;

/** One step of a compiled pattern; numbers are indices of the next steps. */
type Step =
  | { readonly kind: 'character'; fits(character: string): boolean }
  | { readonly kind: 'either'; one: number; other: number }
  | { readonly kind: 'at'; holds(before: string, after: string): boolean }
  | { readonly kind: 'end' };

/** Its message names what is wrong with the pattern. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const isWord = (character: string): boolean => /^[\p{L}\p{N}_]$/u.test(character);

const PLACES: Readonly<Record<string, (before: string, after: string) => boolean>> = {
  '^': (before) => before === '',
  $: (_, after) => after === '',
  '\\b': (before, after) => isWord(before) !== isWord(after),
  '\\B': (before, after) => isWord(before) === isWord(after),
};

/** A class, an escape or a dot for one character, on which JavaScript's own regular expressions cannot run away. */
function classOf(source: string): (character: string) => boolean {
  try {
    const pattern = new RegExp(`^${source}$`, 'isu');
    return remembered((character) => pattern.test(character));
  } catch {
    throw new PatternError(`${source} is no class of characters`);
  }
}

/** Caches results, because texts have few different characters. */
function remembered(fits: (character: string) => boolean): (character: string) => boolean {
  const known = new Map<string, boolean>();
  return (character) => {
    const before = known.get(character);
    if (before !== undefined) return before;
    const answer = fits(character);
    known.set(character, answer);
    return answer;
  };
}

/** One character in all its cases, of which some have three: σ, ς and Σ. */
const literal = (character: string): ((character: string) => boolean) =>
  classOf(`\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

/** A part of a pattern that can be added several times: adds its steps, which continue with the step after them. */
type Part = (steps: Step[]) => void;

const add = (steps: Step[], step: Step): void => {
  if (steps.length >= MOST_STEPS) throw new PatternError('it is too long');
  steps.push(step);
};

/** Nothing is a step as well: repetitions of nothing within one another would cost time without bounds. */
const nothing: Part = (steps) => {
  const next = steps.length + 1;
  add(steps, { kind: 'either', one: next, other: next });
};

const inTurn = (parts: readonly Part[]): Part =>
  parts.length === 0 ? nothing : (steps) => parts.forEach((part) => part(steps));

const alternatives =
  ([first = nothing, ...rest]: readonly Part[]): Part =>
  (steps) => {
    if (rest.length === 0) return first(steps);
    const fork: Step = { kind: 'either', one: steps.length + 1, other: 0 };
    add(steps, fork);
    first(steps);
    const skip: Step = { kind: 'either', one: 0, other: 0 };
    add(steps, skip);
    fork.other = steps.length;
    alternatives(rest)(steps);
    skip.one = skip.other = steps.length;
  };

const optional =
  (part: Part): Part =>
  (steps) => {
    const fork: Step = { kind: 'either', one: steps.length + 1, other: 0 };
    add(steps, fork);
    part(steps);
    fork.other = steps.length;
  };

const anyTimes =
  (part: Part): Part =>
  (steps) => {
    const begin = steps.length;
    const fork: Step = { kind: 'either', one: begin + 1, other: 0 };
    add(steps, fork);
    part(steps);
    add(steps, { kind: 'either', one: begin, other: begin });
    fork.other = steps.length;
  };

const repeated = (part: Part, min: number, max: number): Part =>
  inTurn([
    ...Array.from({ length: min }, () => part),
    ...(max === Infinity ? [anyTimes(part)] : Array.from({ length: max - min }, () => optional(part))),
  ]);

const COUNT = /^\{(\d+)(?:(,)(\d*))?\}/;
const MARKS: Readonly<Record<string, readonly [number, number]>> = {
  '*': [0, Infinity],
  '+': [1, Infinity],
  '?': [0, 1],
};
/** One class in brackets, or one escape. */
const CLASS = /^\[(?:[^\]\\]|\\.)*\]/su;
const ESCAPE = /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|.)/su;

class Parser {
  constructor(private rest: string) {}

  whole(): Part {
    const part = this.#either();
    if (this.rest !== '') throw new PatternError('a bracket is closed that was not opened');
    return part;
  }

  #take(text: string): boolean {
    if (!this.rest.startsWith(text)) return false;
    this.rest = this.rest.slice(text.length);
    return true;
  }

  #matched(pattern: RegExp): string | undefined {
    const found = pattern.exec(this.rest)?.[0];
    if (found !== undefined) this.rest = this.rest.slice(found.length);
    return found;
  }

  #either(): Part {
    const branches: Part[] = [];
    do branches.push(this.#sequence());
    while (this.#take('|'));
    return alternatives(branches);
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.rest !== '' && !/^[|)]/.test(this.rest)) parts.push(this.#counted(this.#atom()));
    return inTurn(parts);
  }

  #atom(): Part {
    if (this.#take('(')) return this.#group();
    const place = Object.keys(PLACES).find((mark) => this.#take(mark));
    const holds = place === undefined ? undefined : PLACES[place];
    if (holds) return (steps) => add(steps, { kind: 'at', holds });
    const fits = this.#character();
    return (steps) => add(steps, { kind: 'character', fits });
  }

  #group(): Part {
    this.#take('?:');
    if (this.rest.startsWith('?')) throw new PatternError('(? is not supported');
    const part = this.#either();
    if (!this.#take(')')) throw new PatternError('a bracket is not closed');
    return part;
  }

  #character(): (character: string) => boolean {
    if (this.#take('.')) return () => true;
    if (/^\\[1-9k]/.test(this.rest)) throw new PatternError('backreferences are not supported');
    const source = this.#matched(CLASS) ?? this.#matched(ESCAPE);
    if (source !== undefined) return classOf(source);
    const [character = ''] = this.rest;
    if ('[*+?{\\'.includes(character)) throw new PatternError(`${character} stands where it means nothing`);
    this.rest = this.rest.slice(character.length);
    return literal(character);
  }

  #counted(part: Part): Part {
    const bounds = this.#bounds();
    if (!bounds) return part;
    this.#take('?');
    const [min, max] = bounds;
    if (min > max || min > MOST_REPEATS || (max !== Infinity && max > MOST_REPEATS))
      throw new PatternError(`a count is at most ${MOST_REPEATS}`);
    return repeated(part, min, max);
  }

  #bounds(): readonly [number, number] | undefined {
    const mark = MARKS[this.rest.charAt(0)];
    if (mark) {
      this.rest = this.rest.slice(1);
      return mark;
    }
    const [whole = '', min = '', comma = '', max = ''] = COUNT.exec(this.rest) ?? [];
    if (whole === '') return undefined;
    this.rest = this.rest.slice(whole.length);
    if (comma === '') return [Number(min), Number(min)];
    return [Number(min), max === '' ? Infinity : Number(max)];
  }
}

/** The steps reached at one position of the text, each once. */
class Reached {
  readonly places: number[] = [];
  readonly #marks: Uint8Array;
  readonly #open: number[] = [];

  constructor(private readonly steps: readonly Step[]) {
    this.#marks = new Uint8Array(steps.length);
  }

  has(place: number): boolean {
    return this.#marks[place] === 1;
  }

  /** Adds a step and all that are reached from it without a character. */
  add(from: number, before: string, after: string): void {
    const open = this.#open;
    open.push(from);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (this.#marks[at] === 1) continue;
      this.#marks[at] = 1;
      this.places.push(at);
      const step = this.steps[at];
      if (step?.kind === 'either') open.push(step.one, step.other);
      else if (step?.kind === 'at' && step.holds(before, after)) open.push(at + 1);
    }
  }

  clear(): this {
    this.places.length = 0;
    this.#marks.fill(0);
    return this;
  }
}

/** Characters between two pauses of a search. */
const PAUSE_EVERY = 32;

/** Whether it matches anywhere in a text. A long search pauses now and then, so that its caller can let other work run. */
export type SafePattern = (text: string) => Generator<undefined, boolean>;

function* search(steps: readonly Step[], text: string): Generator<undefined, boolean> {
  const characters = [...text];
  const last = steps.length - 1;
  let [now, next] = [new Reached(steps), new Reached(steps)];
  for (let at = 0; at <= characters.length; at += 1) {
    const character = characters[at] ?? '';
    now.add(0, characters[at - 1] ?? '', character);
    if (now.has(last)) return true;
    for (const place of now.places) {
      const step = steps[place];
      if (step?.kind === 'character' && step.fits(character))
        next.add(place + 1, character, characters[at + 1] ?? '');
    }
    [now, next] = [next, now.clear()];
    if (at % PAUSE_EVERY === PAUSE_EVERY - 1) yield;
  }
  return false;
}

/** Errors: `PatternError`. */
export function safePattern(source: string): SafePattern {
  const steps: Step[] = [];
  new Parser(source).whole()(steps);
  add(steps, { kind: 'end' });
  return (text) => search(steps, text);
}
