/**
 * An agent's own language model (`llm.custom`): asked through the guard of outbound requests, with the key of its agent, and with the ids of
 * the session and its user, which only such models get (strict servers refuse unknown members).
 *
 * Invariant: nothing else is ever asked in its place.
 */
import { setTimeout } from 'node:timers/promises';
import type { ModelKeys, ModelUser } from '../../contracts/ports/agents/models.js';
import type { ChatEvent, ChatModel, ChatRequest } from '../../contracts/ports/chat.js';
import { askedFor, type Keeper, partOfAccount } from '../../contracts/ports/parts.js';
import type { CustomModel } from '../../contracts/schemas/agent-model.js';
import { ServiceError } from '../../contracts/errors.js';
import type { ChatSettings } from '../../engines/chat/openai-compatible.js';
import { createOpenaiChat } from '../../engines/chat/openai-compatible.js';

/** The setting with its address, for the log. */
export const OWN_MODEL = 'llm.custom of the agent';

/** A model that says nothing for so long has failed, where nobody is on the line. */
const SILENCE_MS = 30_000;
/** A call does not wait longer for a database that is away, where the key is known from before. */
const KEY_MS = 500;

export interface OwnModelParts {
  readonly keys: ModelKeys;
  readonly connections: NonNullable<ChatSettings['connections']>;
  readonly keeper: Keeper;
}

const UNREADABLE = 'The key of the language model cannot be read now';

/** A key as it is now; while the database is away, as it was known last. */
class CurrentKey {
  #last: string | undefined;

  constructor(private readonly read: () => Promise<string | undefined>) {}

  async get(): Promise<string | undefined> {
    if (this.#last === undefined) return (this.#last = await this.#now());
    const late = setTimeout(KEY_MS, undefined, { ref: false });
    const now = await Promise.race([this.read(), late]).catch(() => undefined);
    return (this.#last = now ?? this.#last);
  }

  #now(): Promise<string | undefined> {
    return this.read().catch((cause: unknown) => {
      throw new ServiceError('provider_failed', { message: UNREADABLE, cause });
    });
  }
}

/** Whose requests they are; without a session for a model that is tried out. */
export type OwnModelUser = Pick<ModelUser, 'agentId'> & Partial<ModelUser>;

const idsOf = ({ sessionId, endUserId }: OwnModelUser): Readonly<Record<string, string>> => ({
  ...(sessionId !== undefined && { session_id: sessionId }),
  ...(endUserId && { user_id: endUserId }),
});

/** Errors of `chat`: those of the port. */
export function ownModel(
  { base_url: url, model }: Pick<CustomModel, 'base_url' | 'model'>,
  user: OwnModelUser,
  { keys, connections, keeper }: OwnModelParts,
): ChatModel {
  const key = new CurrentKey(() => keys.keyOf(user.agentId, url));
  const habit = { thinksFirst: false };
  const settings = {
    ...{ url, model, connections, silenceMs: SILENCE_MS, keySetting: OWN_MODEL, noun: 'language model' },
    more: idsOf(user),
  };
  async function* chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    yield* createOpenaiChat({ ...settings, key: await key.get() }, habit).chat(request, signal);
  }
  return {
    name: model,
    endpoint: new URL(url).host,
    chat: (request, signal) =>
      askedFor(keeper.ask(partOfAccount('model', url), request.whom), chat(request, signal), signal),
  };
}
