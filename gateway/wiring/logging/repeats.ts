/**
 * What keeps the log short when one thing happens again and again: of lines that say the same of the same, the first few are
 * written, the others are counted, and the count is a line when its time is over. Nothing is lost but repetition: a line with another
 * message, part, address, agent or cause is another line.
 */
import type { Clock } from '../../../contracts/clock.js';
import { toServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { REQUEST_LINE } from '../../server/tracing/request-line.js';

export type Fields = Readonly<Record<string, unknown>>;

/** One line before it is written. */
export interface Candidate {
  /** Pino's number. */
  readonly level: number;
  readonly fields: Fields;
  readonly message: string;
  /** Writes another one of that level, by the same log. */
  write(fields: Fields, message: string): void;
}

const DATABASE = 'database';
/** Codes of what did not work because the database is away or late (`whyOf`). */
const AWAY: ReadonlySet<unknown> = new Set(['storage_unavailable', 'storage_busy']);

/** The database itself has lines of its own. */
const isOfDatabase = ({ part, err, code }: Fields): boolean =>
  part !== DATABASE && (AWAY.has(code) || (err instanceof Error && AWAY.has(toServiceError(err).code)));

interface Rule {
  covers(line: Candidate): boolean;
  /** All lines that are covered count as one thing, whatever they say, and this is how their count is told. */
  readonly as?: string;
  /** Lines that are alike have these fields alike. */
  readonly alike: readonly string[];
  /** How many are written in each `LIMITS.log.windowMs`. */
  readonly most: number;
}

const WARN = 40;
const REFUSED = 400;

const WHAT = [
  'part',
  'name',
  'address',
  'setting',
  'outcome',
  'role',
  'index',
  'provider',
  'source',
  'code',
  'fields',
];
const WHOM = ['agent', 'agentId', 'tool', 'phoneNumberIds'];

/** The first that covers a line counts; a line that none covers is always written. */
const RULES: readonly Rule[] = [
  {
    // Refusals of whoever has no key: a scanner, or a client with a wrong address or key. Each caller with a key has a line a request.
    covers: ({ fields, message }) =>
      message === REQUEST_LINE && Number(fields['status']) >= REFUSED && fields['workspaceId'] === undefined,
    alike: ['route', 'code'],
    most: LIMITS.log.refusals,
  },
  {
    covers: ({ level, fields }) => level >= WARN && isOfDatabase(fields),
    as: 'things did not work because the database does not answer',
    alike: [],
    most: 1,
  },
  { covers: ({ level }) => level >= WARN, alike: [...WHAT, ...WHOM], most: LIMITS.log.repeats },
];

interface Counted {
  readonly tell: (leftOut: number) => void;
  written: number;
  leftOut: number;
  readonly cancel: () => void;
}

const valueOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function picked(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
}

const codeOf = (err: unknown): unknown =>
  typeof err === 'object' && err !== null && 'code' in err ? err.code : undefined;

export class RepeatedLines {
  readonly #counted = new Map<string, Counted>();

  constructor(private readonly clock: Clock) {}

  /** Whether the line is to be written; if not, it is counted. */
  admits(line: Candidate): boolean {
    const rule = RULES.find(({ covers }) => covers(line));
    if (!rule) return true;
    const counted = this.#countOf(line, rule);
    if (counted.written < rule.most) counted.written += 1;
    else counted.leftOut += 1;
    return counted.leftOut === 0;
  }

  #countOf({ level, fields, message: said, write }: Candidate, { alike, as }: Rule): Counted {
    const same = picked({ code: codeOf(fields['err']), ...fields }, alike);
    const message = as ?? said;
    const key = [as === undefined, level, message, ...Object.entries(same).flat().map(valueOf)].join('\n');
    const known = this.#counted.get(key);
    if (known) return known;
    const [oldest] = this.#counted.keys();
    if (oldest !== undefined && this.#counted.size >= LIMITS.log.kinds) this.#over(oldest);
    const cancel = this.clock.after(LIMITS.log.windowMs, () => this.#over(key));
    const seconds = LIMITS.log.windowMs / 1000;
    const tell = (leftOut: number): void => write({ ...same, left_out: leftOut, seconds }, message);
    const counted = { tell, written: 0, leftOut: 0, cancel };
    this.#counted.set(key, counted);
    return counted;
  }

  #over(key: string): void {
    const counted = this.#counted.get(key);
    this.#counted.delete(key);
    counted?.cancel();
    if (counted && counted.leftOut > 0) counted.tell(counted.leftOut);
  }
}
