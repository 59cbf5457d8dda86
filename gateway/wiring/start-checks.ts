/**
 * Asks the operator's parts something cheap as the gateway starts, beside the start, so that a wrong key is known before the first call;
 * and those that fail again and again until they can be reached, so that nobody has to call to find out that they are back. Servers that
 * only clients use are asked all the time.
 *
 * Invariants: nothing waits for these questions; each is given up after five seconds; none costs more than one token.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import { meaningOf } from '../../contracts/parts/outcome-of.js';
import { noKeeper, type Part, type PartAnswer } from '../../contracts/ports/parts.js';
import { repeat } from '../../contracts/time/repeat.js';
import type { RemoteAddress } from '../../engines/backends/remote/request.js';
import { partsOf, type RemoteSettings } from '../../engines/backends/remote/settings.js';
import { isNamed } from '../../engines/registry.js';
import type { Config, RemoteKind } from '../config.js';
import type { PartKeeper } from '../server/parts/keeper.js';
import { whoIs } from '../server/parts/sentences.js';
import { embedderOf, type EmbeddingConfig } from './embeddings.js';
import {
  LLM_FALLBACK_KEY,
  LLM_FALLBACK_MODEL,
  LLM_KEY,
  LLM_MODEL,
  LLM_MODEL_HIGH,
  LLM_MODEL_INSTANT,
} from '../config/language-model.js';
import { modelPart } from './language-model.js';
import { iceChecks } from './ice-check.js';
import { hasNoRoute, jsonAnswer } from './json-answer.js';
import { askModel } from './model-check.js';
import { type ConfigAdvice, CheckFailure, type PartCheck, PartFailure } from './part-check.js';

const { answerMs, againMs } = LIMITS.partCheck;

/** A route that tells nothing to those without a key. */
const REMOTE_ROUTES: Readonly<Record<RemoteKind, string>> = {
  'openai-compatible': '/models',
  'native-compatible': '/model?page_size=1',
  'elevenlabs-compatible': '/v1/models',
  'deepgram-compatible': '/v1/auth/token',
};

const NO_JSON = 'answered something that is no JSON';

async function askRemote(address: RemoteAddress, path: string, signal: AbortSignal): Promise<undefined> {
  const request = { method: 'GET', path } as const;
  await jsonAnswer(address, request, signal, NO_JSON).catch((error: unknown) => {
    if (!hasNoRoute(error)) throw error;
  });
}

type ModelConfig = Pick<
  Config,
  | 'llmUrl'
  | 'llmKey'
  | 'llmModel'
  | 'llmModelInstant'
  | 'llmModelHigh'
  | 'llmFallbackUrl'
  | 'llmFallbackKey'
  | 'llmFallbackModel'
>;

function modelChecks(config: ModelConfig): readonly PartCheck[] {
  const rows = [
    ['main', config.llmUrl, config.llmKey, LLM_KEY, config.llmModel, LLM_MODEL],
    ['main', config.llmUrl, config.llmKey, LLM_KEY, config.llmModelInstant, LLM_MODEL_INSTANT],
    ['main', config.llmUrl, config.llmKey, LLM_KEY, config.llmModelHigh, LLM_MODEL_HIGH],
    [
      'fallback',
      config.llmFallbackUrl,
      config.llmFallbackKey,
      LLM_FALLBACK_KEY,
      config.llmFallbackModel,
      LLM_FALLBACK_MODEL,
    ],
  ] as const;
  return rows.flatMap(([name, url, key, keySetting, model, setting]) =>
    url === undefined || model === undefined
      ? []
      : [
          {
            parts: [modelPart(name, url)],
            ask: (signal: AbortSignal) => askModel({ url, key, keySetting }, { model, setting }, signal),
          },
        ],
  );
}

/** Its vector of one word. */
function embeddingChecks(config: EmbeddingConfig): readonly PartCheck[] {
  const made = embedderOf(config, noKeeper);
  if (!made) return [];
  const { embedder, part } = made;
  const ask = async (): Promise<undefined> => void (await embedder.embed(['word'], 'passage', answerMs));
  return [{ parts: [part], ask }];
}

/** Each address of a remote service, once for all that it does here. */
function remoteChecks({ remotes, ttsEngines, sttEngines }: Config): readonly PartCheck[] {
  const checksOf = (engine: string, kind: RemoteKind, settings: RemoteSettings): readonly PartCheck[] => {
    const isIn = (names: readonly string[]): boolean => names.some((name) => isNamed({ name: engine }, name));
    const voices = isIn(ttsEngines) ? partsOf('voice', engine, settings) : [];
    const recognisers = isIn(sttEngines) ? partsOf('recogniser', engine, settings) : [];
    return settings.urls.map((url, at) => ({
      parts: [voices[at], recognisers[at]].filter((part) => part !== undefined),
      ask: (signal) => askRemote({ ...settings, url }, REMOTE_ROUTES[kind], signal),
    }));
  };
  return Object.entries(remotes)
    .flatMap(([engine, { kind, settings }]) => checksOf(engine, kind, settings))
    .filter(({ parts }) => parts.length > 0);
}

/** The checks of what a configuration names by address. */
export const configuredChecks = (config: Config): readonly PartCheck[] => [
  ...modelChecks(config),
  ...embeddingChecks(config),
  ...remoteChecks(config),
  ...iceChecks(config),
];

const tooLate = (): ServiceError =>
  new ServiceError('first_byte_timeout', { message: `No answer within ${answerMs / 1000} s` });

/** What an error says of the part. */
function failureOf(error: unknown): PartAnswer {
  if (error instanceof PartFailure) return error.told;
  if (error instanceof CheckFailure) return { ...meaningOf(error.cause), reason: error.message };
  return meaningOf(error);
}

function advise(part: Part, { sentence, setting }: ConfigAdvice, log: Log): void {
  const { kind, name, address } = part;
  log.warn({ part: kind, name, address, setting, check: true }, `${whoIs(part)} ${sentence}`);
}

export interface Found {
  readonly told: PartAnswer;
  readonly advice?: ConfigAdvice | undefined;
}

/** Asks one. Never rejects. */
export async function askPart({ ask: question }: Pick<PartCheck, 'ask'>, clock: Clock): Promise<Found> {
  const from = clock.monotonic();
  const ending = new AbortController();
  const late = new Promise<never>((_, reject) =>
    ending.signal.addEventListener('abort', () => reject(tooLate())),
  );
  const stop = clock.after(answerMs, () => ending.abort(tooLate()));
  const { told, advice } = await Promise.race([question(ending.signal), late]).then(
    (advice): Found => ({ told: { outcome: 'ok' }, advice }),
    (error: unknown): Found => ({ told: failureOf(error) }),
  );
  stop();
  return { told: { ...told, seconds: (clock.monotonic() - from) / 1000, isCheck: true }, advice };
}

/** Asks one, and tells what came of it. Never rejects. */
async function check(checked: PartCheck, { keeper, clock, log }: CheckOptions): Promise<void> {
  const { told, advice } = await askPart(checked, clock);
  for (const part of checked.parts) {
    keeper.noteAnswer(part, told);
    if (advice) advise(part, advice, log);
  }
}

export interface CheckOptions {
  readonly checks: readonly PartCheck[];
  readonly keeper: Pick<PartKeeper, 'noteAnswer' | 'fails' | 'knowPart'>;
  /** False in the second of several processes: the first has asked already. */
  readonly asksAll: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Asks now, and those that fail or that nobody else asks each quarter of a minute. The result stops it. */
export function startChecks(options: CheckOptions): () => void {
  const { checks, keeper, asksAll, clock } = options;
  for (const { parts } of checks) for (const part of parts) keeper.knowPart(part);
  let isFirst = asksAll;
  const look = async (): Promise<void> => {
    const asked = checks.filter(
      ({ parts, isRegular }) => isFirst || (asksAll && isRegular) || parts.some((part) => keeper.fails(part)),
    );
    isFirst = false;
    await Promise.all(asked.map((each) => check(each, options)));
  };
  // No look rejects.
  return repeat(clock, againMs, look, () => undefined);
}
