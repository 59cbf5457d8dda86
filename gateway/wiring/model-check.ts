/**
 * The cheap question to a language model as the gateway starts: its list of models; from a server that has none or tells none, one token.
 */
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { RemoteAddress } from '../../engines/backends/remote/request.js';
import { hasNoRoute, jsonAnswer, unexpected } from './json-answer.js';
import type { ConfigAdvice } from './part-check.js';

const { namedModels, namedCharacters } = LIMITS.partCheck;

/** A key may be allowed to talk, and not to list models. */
const FORBIDDEN = 403;

const tellsNothing = (error: unknown): boolean =>
  hasNoRoute(error) || (error instanceof ServiceError && error.answered === FORBIDDEN);

const NO_LIST = 'answered something that is no list of models';
const NO_ANSWER = 'answered something that is no answer of a language model';

interface Listed {
  readonly id?: unknown;
  readonly name?: unknown;
}

/** The list as servers have it: `{"data": […]}`, `{"models": […]}`, or nothing around it. */
function listIn(body: unknown): readonly unknown[] | undefined {
  if (Array.isArray(body)) return body as unknown[];
  const { data, models } = (body ?? {}) as { readonly data?: unknown; readonly models?: unknown };
  return [data, models].find((list): list is unknown[] => Array.isArray(list));
}

function idOf(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry;
  const { id, name } = (entry ?? {}) as Listed;
  return [id, name].find((value): value is string => typeof value === 'string');
}

/** Without what a server may leave out of a name: `models/a:latest` and `a` are one model. */
const bare = (id: string): string =>
  id
    .toLowerCase()
    .replace(/^models\//, '')
    .replace(/:[^:/]*$/, '');

const isListed = (ids: readonly string[], model: string): boolean =>
  ids.some((id) => bare(id) === bare(model) || bare(id).endsWith(`/${bare(model)}`));

const shown = (id: string): string => id.replaceAll(/\p{Cc}/gu, ' ').slice(0, namedCharacters);

/** Undefined if the server lists the model, or names none. */
export function adviceOn(ids: readonly string[], model: string, setting: string): ConfigAdvice | undefined {
  if (ids.length === 0 || isListed(ids, model)) return undefined;
  const more = ids.length > namedModels ? ` and ${ids.length - namedModels} more` : '';
  const names = ids.slice(0, namedModels).map(shown).join(', ');
  return { setting, sentence: `lists no model "${model}", but ${names}${more}: check ${setting}` };
}

async function idsOf(address: RemoteAddress, signal: AbortSignal): Promise<readonly string[]> {
  const list = listIn(await jsonAnswer(address, { method: 'GET', path: '/models' }, signal, NO_LIST));
  if (!list) throw unexpected(NO_LIST);
  return list.map(idOf).filter((id) => id !== undefined);
}

async function oneToken(address: RemoteAddress, model: string, signal: AbortSignal): Promise<void> {
  const body = { model, messages: [{ role: 'user', content: 'ping' }], max_tokens: 1, stream: false };
  const headers = { 'content-type': 'application/json' };
  const request = { path: '/chat/completions', headers, body: JSON.stringify(body) };
  const { choices } = ((await jsonAnswer(address, request, signal, NO_ANSWER)) ?? {}) as {
    readonly choices?: unknown;
  };
  if (!Array.isArray(choices)) throw unexpected(NO_ANSWER);
}

/**
 * Asks; resolves with advice if the server does not list `model`, which `setting` names. Errors: `PartFailure`, and whatever says
 * that it does not work.
 */
export async function askModel(
  address: RemoteAddress,
  { model, setting }: { readonly model: string; readonly setting: string },
  signal: AbortSignal,
): Promise<ConfigAdvice | undefined> {
  try {
    return adviceOn(await idsOf(address, signal), model, setting);
  } catch (error) {
    if (!tellsNothing(error)) throw error;
    await oneToken(address, model, signal);
    return undefined;
  }
}
