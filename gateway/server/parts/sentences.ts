/** What the log and `/health` say of a part that fails, as data: who it is, what it did, and the setting that mends it. */
import type { Outcome, Part, PartKind, Told } from '../../../contracts/ports/parts.js';

const WHO: Readonly<Record<PartKind, string>> = {
  model: 'The language model',
  voice: 'The voice service',
  recogniser: 'The recogniser',
  tool: 'A tool',
  mcp: 'An MCP server',
  webhook: 'A webhook',
  analysis: 'The analysis of calls',
  database: 'The database',
  bucket: 'The bucket of recordings',
  livekit: 'The LiveKit server',
  phone: 'The telephone provider',
  child: 'The child process',
};

interface Row {
  /** Whether the part counts as failing. Absent: it has answered, or nothing is known. */
  readonly fails?: true;
  /** Whether it is proof that the part works. */
  readonly works?: true;
  readonly did: string;
  /** The kind of setting that mends it. */
  readonly mends?: keyof NonNullable<Part['settings']>;
}

export const ROWS: Readonly<Record<Outcome, Row>> = {
  ok: { works: true, did: 'answers' },
  refused: { works: true, did: 'refused what was asked' },
  cancelled: { did: 'was not waited for' },
  refused_key: { fails: true, did: 'refused the key', mends: 'key' },
  limited: { fails: true, did: 'takes no more: too many requests, or its credit is used up', mends: 'key' },
  wrong_address: { fails: true, did: 'has nothing there', mends: 'choice' },
  failed: { fails: true, did: 'failed' },
  unreachable: { fails: true, did: 'cannot be reached', mends: 'address' },
  timeout: { fails: true, did: 'did not answer in time' },
  invalid: { fails: true, did: 'answered something unexpected', mends: 'address' },
};

/** Where a kind of part needs other words. */
const OTHER_WORDS: Readonly<Partial<Record<PartKind, Partial<Record<Outcome, string>>>>> = {
  child: {
    failed: 'died',
    timeout: 'said nothing, and is replaced',
    invalid: 'dies at its work again and again: is there enough memory?',
  },
  model: { wrong_address: 'knows no such address or model' },
  voice: { wrong_address: 'knows no such address or model' },
  recogniser: { wrong_address: 'knows no such address or model' },
  database: { unreachable: 'is away', failed: 'is away' },
};

/** The name by which a part is told from others of its kind; what accounts configure is known by its address. */
const named = ({ name, owner, kind }: Part): string =>
  owner === 'account' && kind !== 'phone' ? '' : ` (${name})`;

const at = ({ address }: Part): string => (address === undefined ? '' : ` at ${address}`);

export const whoIs = (part: Part): string => `${WHO[part.kind]}${named(part)}${at(part)}`;

const settingFor = ({ settings }: Part, outcome: Outcome): string | undefined => {
  const { mends = 'address' } = ROWS[outcome];
  return settings?.[mends] ?? settings?.address;
};

/** The setting to look at; undefined if none mends it. */
export const mendedBy = (part: Part, outcome: Outcome): string | undefined =>
  ROWS[outcome].fails ? settingFor(part, outcome) : undefined;

/** `The language model (main) at http://localhost:8000 refused the key (401): check LLM_API_KEY` */
export function sentenceOf(part: Part, { outcome, status, code }: Told): string {
  const did = OTHER_WORDS[part.kind]?.[outcome] ?? ROWS[outcome].did;
  const detail = status ?? code;
  const setting = mendedBy(part, outcome);
  const check = setting === undefined ? '' : `: check ${setting}`;
  return `${whoIs(part)} ${did}${detail === undefined ? '' : ` (${detail})`}${check}`;
}

export const backSentence = (part: Part, seconds: number): string =>
  `${whoIs(part)} is back after ${seconds} s`;
