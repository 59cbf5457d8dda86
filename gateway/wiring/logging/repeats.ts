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

/** One line before it is written. `level` is pino's number. */
export interface Candidate {
  readonly level: number;
  readonly fields: Fields;
  readonly message: string;
}

const DATABASE = 'database';
const AWAY: ReadonlySet<string> = new Set(['storage_unavailable', 'storage_busy']);
/** The texts of errors of connections to Postgres. */
const AWAY_TEXT =
  /CONNECT_TIMEOUT|CONNECTION_(CLOSED|ENDED|DESTROYED)|ECONN(REFUSED|RESET)|s\.PGSQL|^no answer in|terminating connection|database system is/;

/** Whether something did not work because the database is away, which has a line of its own. */
function isOfDatabase({ part, err, reason }: Fields): boolean {
  if (part === DATABASE) return false;
  return (err instanceof Error && AWAY.has(toServiceError(err).code)) || AWAY_TEXT.test(String(reason ?? ''));
}

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
  readonly line: Candidate;
  written: number;
  leftOut: number;
  readonly cancel: () => void;
}

export interface RepeatsParts {
  readonly clock: Clock;
  /** Writes the line that tells how many were left out. */
  tell(line: Candidate): void;
}

const valueOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function picked(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
}

const codeOf = (err: unknown): unknown =>
  typeof err === 'object' && err !== null && 'code' in err ? err.code : undefined;

export class Repeats {
  readonly #counted = new Map<string, Counted>();

  constructor(private readonly parts: RepeatsParts) {}

  /** Whether the line is to be written; if not, it is counted. */
  admits(line: Candidate): boolean {
    const rule = RULES.find(({ covers }) => covers(line));
    if (!rule) return true;
    const counted = this.#countOf(line, rule);
    if (counted.written < rule.most) counted.written += 1;
    else counted.leftOut += 1;
    return counted.leftOut === 0;
  }

  #countOf({ level, fields, message: said }: Candidate, { alike, as }: Rule): Counted {
    const same = picked({ code: codeOf(fields['err']), ...fields }, alike);
    const message = as ?? said;
    const key = [as === undefined && level, message, ...Object.entries(same).flat().map(valueOf)].join('\n');
    const known = this.#counted.get(key);
    if (known) return known;
    const [oldest] = this.#counted.keys();
    if (oldest !== undefined && this.#counted.size >= LIMITS.log.kinds) this.#over(oldest);
    const cancel = this.parts.clock.after(LIMITS.log.windowMs, () => this.#over(key));
    const counted = { line: { level, fields: same, message }, written: 0, leftOut: 0, cancel };
    this.#counted.set(key, counted);
    return counted;
  }

  #over(key: string): void {
    const counted = this.#counted.get(key);
    this.#counted.delete(key);
    counted?.cancel();
    if (!counted || counted.leftOut === 0) return;
    const { line, leftOut } = counted;
    const seconds = LIMITS.log.windowMs / 1000;
    this.parts.tell({ ...line, fields: { ...line.fields, left_out: leftOut, seconds } });
  }
}
