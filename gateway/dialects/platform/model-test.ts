/**
 * Tries an agent's language model out: one short streamed request with a tool, bounded in time (docs/contract/platform.md 6.3). Whatever
 * comes of it is a result; only a request that makes no sense is an error.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { meaningOf } from '../../../contracts/parts/outcome-of.js';
import type { ChatEvent, ChatModel, ChatRequest } from '../../../contracts/ports/chat.js';
import type { PartOutcome } from '../../../contracts/ports/parts.js';
import type { AgentConfig } from '../../../contracts/schemas/agent-config.js';
import {
  ModelTest,
  ModelTestResult,
  type ModelTestResult as Result,
} from '../../../contracts/schemas/agent-model.js';
import { modelAddress } from '../../../contracts/schemas/agent-merge.js';
import { answers, jsonBody } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { tagged } from '../../server/routes.js';
import { agentIdOf } from './agents.js';
import { readOptionalBody } from './bodies.js';
import { checked } from './checked.js';
import { modelTestProblems } from './model-address.js';
import { refuse } from './errors.js';
import type { PlatformParts } from './parts.js';
import { bodyFailures, found, type PlatformHandler, type PlatformRow } from './rows.js';

const check = checked(ModelTest);

const PROBE = 'report_ready';

const REQUEST: ChatRequest = {
  messages: [
    {
      role: 'system',
      content: `This is a test of a connection. Call the tool ${PROBE} with the word "ready".`,
    },
    { role: 'user', content: 'Are you ready?' },
  ],
  tools: [
    {
      name: PROBE,
      description: 'Reports that you are ready.',
      parameters: {
        type: 'object',
        properties: { word: { type: 'string', description: 'The word "ready".' } },
        required: ['word'],
      },
    },
  ],
  passages: [],
};

const SENTENCES: Readonly<Record<PartOutcome, string>> = {
  ok: 'It answered',
  refused: 'The request was refused',
  refused_key: 'The key was refused',
  limited: 'The server takes no more: too many requests, or its credit is used up',
  wrong_address: 'The server knows no such address or model',
  failed: 'The server failed',
  unreachable: 'The server cannot be reached',
  timeout: 'The server did not answer in time',
  invalid: 'The server answered something that is no streamed answer of a language model',
  cancelled: 'Nobody waited for the answer',
};

/** In words of ours, with the server's own where it says what is wrong with the request. */
function sentenceOf(error: unknown): string {
  const { outcome, status, reason } = meaningOf(error);
  const said = outcome === 'refused' && error instanceof ServiceError ? error.message : reason;
  const answered = status === undefined ? '' : ` (${status})`;
  return `${SENTENCES[outcome]}${answered}${said === undefined ? '' : `: ${said}`}`;
}

const isSaid = (event: ChatEvent): boolean =>
  event.kind === 'calls' || (event.kind === 'text' && /\S/u.test(event.text));

const isProbe = (event: ChatEvent): boolean =>
  event.kind === 'calls' && event.calls.some(({ name }) => name === PROBE);

const tooLate = (): ServiceError => new ServiceError('first_byte_timeout');

/** Errors: the reason of `signal`. */
export async function tryModel(chat: ChatModel, clock: Clock, signal: AbortSignal): Promise<Result> {
  const late = new AbortController();
  const { firstMs, wholeMs } = LIMITS.languageModel.trial;
  const leave = (): void => late.abort(tooLate());
  const [stopFirst, stopWhole] = [clock.after(firstMs, leave), clock.after(wholeMs, leave)];
  const begun = clock.monotonic();
  const result = { ok: false, first_token_ms: null as number | null, model: chat.name, calls_tools: false };
  try {
    for await (const event of chat.chat(REQUEST, AbortSignal.any([signal, late.signal]))) {
      if (!isSaid(event)) continue;
      stopFirst();
      result.first_token_ms ??= Math.round(clock.monotonic() - begun);
      result.calls_tools ||= isProbe(event);
    }
    return { ...result, ok: true, error: null };
  } catch (error) {
    signal.throwIfAborted();
    return { ...result, error: sentenceOf(error) };
  } finally {
    stopFirst();
    stopWhole();
  }
}

/** What is tried, and the key if it is not the stored one. Errors: `validation_failed`. */
function wantedOf(
  { tier, custom }: ModelTest,
  { llm }: AgentConfig,
  outbound: PlatformParts['outbound'],
): { readonly llm: AgentConfig['llm']; readonly key: string | undefined } {
  refuse(modelTestProblems(custom, llm.custom, outbound));
  if (!custom)
    return {
      llm: { tier: tier ?? llm.tier, custom: custom === null || tier ? null : llm.custom },
      key: undefined,
    };
  const { api_key: key, model } = custom;
  const own = { base_url: modelAddress(custom.base_url), model, api_key: null, has_secret: true };
  return { llm: { tier: llm.tier, custom: own }, key: key ?? undefined };
}

const test: PlatformHandler = async (request, { agents, outbound, models, clock }, { workspaceId }) => {
  const body = check(await readOptionalBody(request));
  const id = agentIdOf(request);
  const { config } = found(await agents.config(id, workspaceId), 'Agent');
  const { llm, key } = wantedOf(body, config, outbound);
  return json(200, await tryModel(models.triedModel(llm, id, key), clock, request.signal));
};

export const MODEL_TEST_ROWS: readonly PlatformRow[] = tagged('agents', [
  {
    method: 'POST',
    path: '/v1/agent/agents/{agent_id}/llm/test',
    permission: 'manage',
    handler: test,
    audit: { action: 'model.tested', subject: 'agent_id' },
    description: {
      summary: 'Try a language model out',
      description:
        'Makes one short streamed request with one tool: to the model of the draft, or to that of the body. Nothing is stored. It takes ' +
        'twenty seconds at most.',
      requestBody: jsonBody(ModelTest),
      bodyIsOptional: true,
      responses: { ...answers(200, 'What came of it', ModelTestResult), ...bodyFailures(404) },
    },
  },
]);
