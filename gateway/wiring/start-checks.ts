/**
 * Asks the operator's parts something cheap as the gateway starts, beside the start, so that a wrong key is known before the first call;
 * and those that fail again and again until they can be reached, so that nobody has to call to find out that they are back.
 *
 * Invariants: nothing waits for these questions; each is given up after five seconds; none costs more than one token.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { meaningOf } from '../../contracts/parts/outcome-of.js';
import type { Part } from '../../contracts/ports/parts.js';
import { repeat } from '../../contracts/time/repeat.js';
import {
  ask,
  discard,
  type RemoteAddress,
  type RemoteRequest,
} from '../../engines/backends/remote/request.js';
import { partsOf, type RemoteSettings } from '../../engines/backends/remote/settings.js';
import type { Config, RemoteName } from '../config.js';
import type { PartKeeper } from '../server/parts/keeper.js';
import { LLM_FALLBACK_KEY, LLM_KEY } from '../config/language-model.js';
import { modelPart } from './language-model.js';

const { answerMs, againMs } = LIMITS.partCheck;

/** One cheap question, which is asked for several parts at once. */
export interface Checked {
  readonly parts: readonly Part[];
  /** Errors: whatever says that the part does not work. */
  ask(signal: AbortSignal): Promise<unknown>;
}

/** A failure, and what is to be done about it. */
export class CheckFailure extends Error {
  constructor(reason: string, cause: unknown) {
    super(reason, { cause });
  }
}

/** Statuses of a server that has no such route, and may do its work all the same. */
const NO_ROUTE: ReadonlySet<number> = new Set([404, 405, 501]);

const hasNoRoute = (error: unknown): boolean =>
  error instanceof ServiceError && NO_ROUTE.has(error.answered ?? 0);

async function answers(address: RemoteAddress, request: RemoteRequest, signal: AbortSignal): Promise<void> {
  discard(await ask(address, request, signal));
}

const get = (path: string): RemoteRequest => ({ method: 'GET', path });

/** A key may be allowed to talk, and not to list models. */
const FORBIDDEN = 403;

const tellsNothing = (error: unknown): boolean =>
  hasNoRoute(error) || (error instanceof ServiceError && error.answered === FORBIDDEN);

/** The list of models; from a server that has none, or tells none, one token. */
async function askModel(address: RemoteAddress, model: string, signal: AbortSignal): Promise<void> {
  const body = { model, messages: [{ role: 'user', content: 'ping' }], max_tokens: 1, stream: false };
  const headers = { 'content-type': 'application/json' };
  try {
    await answers(address, get('/models'), signal);
  } catch (error) {
    if (!tellsNothing(error)) throw error;
    await answers(address, { path: '/chat/completions', headers, body: JSON.stringify(body) }, signal);
  }
}

/** A route that tells nothing to those without a key. */
const REMOTE_ROUTES: Readonly<Record<RemoteName, string>> = {
  openai: '/models',
  native: '/model?page_size=1',
};

async function askRemote(address: RemoteAddress, path: string, signal: AbortSignal): Promise<void> {
  await answers(address, get(path), signal).catch((error: unknown) => {
    if (!hasNoRoute(error)) throw error;
  });
}

type ModelConfig = Pick<
  Config,
  'llmUrl' | 'llmKey' | 'llmModel' | 'llmFallbackUrl' | 'llmFallbackKey' | 'llmFallbackModel'
>;

function modelChecks(config: ModelConfig): readonly Checked[] {
  const rows = [
    ['main', config.llmUrl, config.llmKey, LLM_KEY, config.llmModel],
    ['fallback', config.llmFallbackUrl, config.llmFallbackKey, LLM_FALLBACK_KEY, config.llmFallbackModel],
  ] as const;
  return rows.flatMap(([name, url, key, keySetting, model]) =>
    url === undefined
      ? []
      : [
          {
            parts: [modelPart(name, url)],
            ask: (signal: AbortSignal) => askModel({ url, key, keySetting }, model, signal),
          },
        ],
  );
}

/** Each address of a remote service, once for all that it does here. */
function remoteChecks({ remotes, ttsEngines, sttEngines }: Config): readonly Checked[] {
  const checksOf = (remote: RemoteName, settings: RemoteSettings): readonly Checked[] => {
    const engine = `${remote}-compatible`;
    const voices = ttsEngines.includes(engine) ? partsOf('voice', engine, settings) : [];
    const recognisers = sttEngines.includes(engine) ? partsOf('recogniser', engine, settings) : [];
    return settings.urls.map((url, at) => ({
      parts: [voices[at], recognisers[at]].filter((part) => part !== undefined),
      ask: (signal) => askRemote({ ...settings, url }, REMOTE_ROUTES[remote], signal),
    }));
  };
  return Object.entries(remotes)
    .flatMap(([remote, settings]) => checksOf(remote as RemoteName, settings))
    .filter(({ parts }) => parts.length > 0);
}

/** The checks of what a configuration names by address. */
export const configuredChecks = (config: Config): readonly Checked[] => [
  ...modelChecks(config),
  ...remoteChecks(config),
];

const tooLate = (): ServiceError =>
  new ServiceError('first_byte_timeout', { message: `No answer within ${answerMs / 1000} s` });

/** Asks one, and tells what came of it. Never rejects. */
async function check({ parts, ask: question }: Checked, { keeper, clock }: CheckOptions): Promise<void> {
  const from = clock.monotonic();
  const ending = new AbortController();
  const late = new Promise<never>((_, reject) =>
    ending.signal.addEventListener('abort', () => reject(tooLate())),
  );
  const stop = clock.after(answerMs, () => ending.abort(tooLate()));
  const told = await Promise.race([question(ending.signal), late]).then(
    () => ({ outcome: 'ok' }) as const,
    (error: unknown) =>
      error instanceof CheckFailure ? { ...meaningOf(error.cause), reason: error.message } : meaningOf(error),
  );
  stop();
  const seconds = (clock.monotonic() - from) / 1000;
  for (const part of parts) keeper.told(part, { ...told, seconds, isCheck: true });
}

export interface CheckOptions {
  readonly checks: readonly Checked[];
  readonly keeper: Pick<PartKeeper, 'told' | 'fails' | 'know'>;
  /** False in the second of several processes: the first has asked already. */
  readonly asksAll: boolean;
  readonly clock: Clock;
}

/** Asks now, and those that fail each quarter of a minute. The result stops it. */
export function startChecks(options: CheckOptions): () => void {
  const { checks, keeper, asksAll, clock } = options;
  for (const { parts } of checks) for (const part of parts) keeper.know(part);
  let isFirst = asksAll;
  const look = async (): Promise<void> => {
    const asked = isFirst ? checks : checks.filter(({ parts }) => parts.some((part) => keeper.fails(part)));
    isFirst = false;
    await Promise.all(asked.map((each) => check(each, options)));
  };
  // No look rejects.
  return repeat(clock, againMs, look, () => undefined);
}
