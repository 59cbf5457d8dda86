/** What the log and `/health` say of a part that fails, as data: who it is, what it did, and the setting that mends it. */
import { isUnknownAuthorityCode } from '../../../contracts/parts/outcome-of.js';
import type { Part, PartAnswer, PartKind, PartOutcome } from '../../../contracts/ports/parts.js';

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
  ice: 'The ICE server',
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

export const ROWS: Readonly<Record<PartOutcome, Row>> = {
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
const OTHER_WORDS: Readonly<Partial<Record<PartKind, Partial<Record<PartOutcome, string>>>>> = {
  child: {
    failed: 'died',
    timeout: 'said nothing, and is replaced',
    invalid: 'dies at its work again and again: is there enough memory?',
  },
  analysis: {
    failed: 'failed, as the language model did',
    invalid: 'is not possible: the language model did not answer as asked',
  },
  model: { wrong_address: 'knows no such address or model' },
  voice: { wrong_address: 'knows no such address or model' },
  recogniser: { wrong_address: 'knows no such address or model' },
  bucket: { refused_key: 'refused the key, or there is none' },
  ice: {
    refused_key: 'refused its user name and credential',
    limited: 'has no room for another client',
    wrong_address: 'cannot be reached',
  },
  database: { unreachable: 'is away', failed: 'is away' },
};

/** The name by which a part is told from others of its kind; what accounts configure is known by its address. */
const named = ({ name, owner, kind }: Part): string =>
  owner === 'account' && kind !== 'phone' ? '' : ` (${name})`;

const at = ({ address }: Part): string => (address === undefined ? '' : ` at ${address}`);

export const whoIs = (part: Part): string => `${WHO[part.kind]}${named(part)}${at(part)}`;

const settingFor = ({ settings }: Part, outcome: PartOutcome): string | undefined => {
  const { mends = 'address' } = ROWS[outcome];
  return settings?.[mends] ?? settings?.address;
};

/** What another part's line says how to mend. */
const isOfAnother = ({ kind }: Part, outcome: PartOutcome): boolean =>
  kind === 'analysis' && outcome === 'failed';

/** Node's own variable, a file of more authorities that it trusts. */
const AUTHORITIES = 'NODE_EXTRA_CA_CERTS';

/** The setting to look at; undefined if none mends it. */
export function mendedBy(
  part: Part,
  { outcome, code }: Pick<PartAnswer, 'outcome' | 'code'>,
): string | undefined {
  if (isUnknownAuthorityCode(code)) return AUTHORITIES;
  return ROWS[outcome].fails && !isOfAnother(part, outcome) ? settingFor(part, outcome) : undefined;
}

/** A status that sends elsewhere, which is not followed. */
const isRedirect = (status: number | undefined): boolean =>
  status !== undefined && status >= 300 && status < 400;

/** Codes that only programmers know; the line has the code itself in `code`. */
const CODES: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'the connection was closed',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  ETIMEDOUT: 'no connection in time',
  ENOTFOUND: 'no such host name',
  EAI_AGAIN: 'the host name cannot be looked up',
};

/** What stands behind a sentence. The code of a time that is up would say the same again. */
function detailOf({ outcome, status, code }: PartAnswer): string | number | undefined {
  if (status !== undefined) return status;
  if (isUnknownAuthorityCode(code)) return `${code}: Node does not know the authority of its certificate`;
  return outcome === 'timeout' || code === undefined ? undefined : (CODES[code] ?? code);
}

/** `The language model (main) at http://localhost:8000 refused the key (401): check LLM_API_KEY` */
export function sentenceOf(part: Part, told: PartAnswer): string {
  const { outcome, status, did: known } = told;
  const words = known ?? OTHER_WORDS[part.kind]?.[outcome] ?? ROWS[outcome].did;
  const did = isRedirect(status) ? 'sends elsewhere' : words;
  const detail = detailOf(told);
  const setting = mendedBy(part, told);
  const check = setting === undefined ? '' : `: check ${setting}`;
  return `${whoIs(part)} ${did}${detail === undefined ? '' : ` (${detail})`}${check}`;
}

export const backSentence = (part: Part, seconds: number): string =>
  `${whoIs(part)} is back after ${seconds} s`;
