/**
 * The parts of a running gateway: everything that it asks and does not do itself, from the language model to its own child processes.
 * Whoever asks a part tells the keeper what came of it; log, metrics and `/health` are made from that, in one place
 * (gateway/server/parts/).
 */

export const PART_KINDS = [
  'model',
  'voice',
  'recogniser',
  'tool',
  'mcp',
  'webhook',
  'analysis',
  'database',
  'bucket',
  'livekit',
  'ice',
  'phone',
  'child',
] as const;
export type PartKind = (typeof PART_KINDS)[number];

export const OUTCOMES = [
  'ok',
  /** It answered, and refused what was asked: whoever asked is at fault. */
  'refused',
  'refused_key',
  /** Too many requests, or a quota or credit is used up. */
  'limited',
  /** It has nothing at that address, or sends elsewhere. */
  'wrong_address',
  'failed',
  'unreachable',
  'timeout',
  /** It answered something else than it should. */
  'invalid',
  /** Nobody waited for the answer any more. */
  'cancelled',
] as const;
export type PartOutcome = (typeof OUTCOMES)[number];

export interface Part {
  readonly kind: PartKind;
  /** A label of metrics: the name of an engine, a role, a provider; one word for whatever accounts have configured. */
  readonly name: string;
  /** Origin only: never a user name, a path or a query. Of an ICE server the whole URL, which has neither name nor path. */
  readonly address?: string | undefined;
  /** The settings that mend it. */
  readonly settings?: {
    readonly address?: string | undefined;
    readonly key?: string | undefined;
    /** Where there is a choice of what is asked there, such as a model. */
    readonly choice?: string | undefined;
  };
  /** Whose it is. What an account has configured is no concern of `/health` and of alerts. Absent: the operator's. */
  readonly owner?: 'account';
}

/** For whom a part was asked: ids only. */
export interface ForWhom {
  readonly workspaceId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
}

/** What came of asking. */
export interface PartAnswer {
  readonly outcome: PartOutcome;
  /** Until the answer began, or did not come. */
  readonly seconds?: number | undefined;
  /** The status with which it answered, if it is one that has statuses. */
  readonly status?: number | undefined;
  /** Code of a socket's or a library's error. */
  readonly code?: string | undefined;
  /** What it did, where that is known better than by the outcome; follows its name in a sentence. */
  readonly did?: string | undefined;
  /** In words of our own. */
  readonly reason?: string | undefined;
  readonly whom?: ForWhom | undefined;
  /** A cheap question of our own, which may see less than a real one. */
  readonly isCheck?: boolean;
}

/** One question to a part. It is told once; what comes later is ignored. */
export interface Question {
  /** The answer has begun. */
  began(): void;
  /** `error`: why there is no whole answer; absent: there is. `signal`: that by which whoever asked leaves. */
  ended(error?: unknown, signal?: AbortSignal): void;
  answered(status: number): void;
  /** Whoever asked has left: an answer that had begun was one. */
  left(): void;
}

export interface Keeper {
  /** Makes a part known before it is asked. Idempotent. */
  knowPart(part: Part): void;
  ask(part: Part, whom?: ForWhom): Question;
  noteAnswer(part: Part, told: PartAnswer): void;
}

/** For whom the work of a caller is. */
export const whomOf = ({
  workspaceId,
  call,
}: {
  readonly workspaceId: string;
  readonly call?: Pick<ForWhom, 'sessionId' | 'agentId'>;
}): ForWhom => ({ workspaceId, ...call });

const nothing = (): void => undefined;

const UNTOLD: Question = { began: nothing, ended: nothing, answered: nothing, left: nothing };

export const noKeeper: Keeper = { knowPart: nothing, ask: () => UNTOLD, noteAnswer: nothing };

/** What accounts have configured: metrics name none of them, and the log knows them by their origin. */
export const partOfAccount = (kind: PartKind, url: string): Part => ({
  kind,
  name: 'account',
  address: originOf(url),
  owner: 'account',
});

/** Asks a tool or server of an account, for the call that uses it. */
export type AskOfAccount = (kind: 'tool' | 'mcp', url: string) => Question;

export const askingFor =
  (keeper: Keeper, whom: ForWhom): AskOfAccount =>
  (kind, url) =>
    keeper.ask(partOfAccount(kind, url), whom);

export const askingNobody = (): Question => UNTOLD;

/** Asks one part, whoever it is for. */
export type Ask = () => Question;

/** The origin of an address; undefined if it is none. */
export function originOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/** Asks by `work`, and tells what came of it. Errors: those of `work`. */
export async function asked<T>(question: Question, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    const answer = await work();
    question.ended();
    return answer;
  } catch (error) {
    question.ended(error, signal);
    throw error;
  }
}

/**
 * The values of an answer that comes piece by piece, and tells what came of it. An answer that its reader leaves after it has begun counts
 * as one. Errors: those of `values`.
 */
export async function* askedFor<T>(
  question: Question,
  values: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  try {
    for await (const value of values) {
      question.began();
      yield value;
    }
    question.ended();
  } catch (error) {
    question.ended(error, signal);
    throw error;
  } finally {
    question.left();
  }
}
