/**
 * The question before a call (docs/contract/platform.md 6.8, `webhooks.conversation_init`): its answer's variables are those of the
 * session, by the same rules. Whatever is wrong with it, the call goes on without them, and its record and the log say so.
 */
import type { Clock } from '../../../../contracts/clock.js';
import type { Log } from '../../../../contracts/log.js';
import type { PhoneLeg } from '../../../../contracts/phone/phone.js';
import {
  type AskBeforeCall,
  INIT_EVENT,
  type InitOutcome,
} from '../../../../contracts/ports/sessions/conversation-init.js';
import type { SessionSource } from '../../../../contracts/ports/sessions/sessions.js';
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { ConversationInit } from '../../../../contracts/schemas/agent-webhooks.js';
import { memberTexts } from '../../../../contracts/text/raw-json.js';
import { firstUnstorable } from '../checked.js';
import { withAllDigits } from './request.js';
import { variableProblems } from './values.js';

export interface InitParts {
  readonly askBeforeCall: AskBeforeCall;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
}

/** The session that is about to be made. */
export interface Coming {
  readonly agentId: string;
  readonly source: SessionSource;
  readonly leg?: PhoneLeg | undefined;
  readonly timezone: string;
}

type Variables = Readonly<Record<string, unknown>>;
type Read = { readonly variables: Variables } | { readonly error: string };

/** Calls of clients; previews and tests send nothing. */
const FROM_CLIENTS: ReadonlySet<SessionSource> = new Set(['api_key', 'public']);

/** Whether its owner is asked: before inbound phone calls, and those of clients where that is wished. */
export const isAsked = (
  { web }: ConversationInit,
  { source, leg }: Omit<Coming, 'timezone' | 'agentId'>,
): boolean => (leg ? leg.direction === 'inbound' : web && FROM_CLIENTS.has(source));

const questionOf = ({ agentId, leg, timezone }: Coming): string =>
  JSON.stringify({
    event: INIT_EVENT,
    agent_id: agentId,
    session: {
      caller_number: leg?.callerNumber ?? null,
      dialed_number: leg?.dialedNumber ?? null,
      direction: leg?.direction ?? 'inbound',
      timezone,
    },
  });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return undefined;
  }
}

/** The variables of an answer; members that it has besides are ignored. */
function variablesIn(text: string): Read {
  const answer = parsed(text);
  if (!isPlainObject(answer)) return { error: 'it answered no JSON object' };
  const variables = withAllDigits(answer['dynamic_variables'] ?? {}, memberTexts(text));
  if (!isPlainObject(variables)) return { error: 'its dynamic_variables are no object' };
  const [problem] = [...firstUnstorable(variables), ...variableProblems(variables)];
  return problem ? { error: `it answered what is no variable: ${problem.message}` } : { variables };
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

/** What the question has come to. */
export interface Answered {
  readonly variables: Variables;
  readonly outcome: InitOutcome;
}

/** The outcome of an answer with which there can be no call; it is in the log. */
export function withoutIt(
  { outcome }: Answered,
  why: string,
  { url }: ConversationInit,
  { agentId }: Coming,
  { log }: InitParts,
): Answered {
  const { latencyMs: ms } = outcome;
  log.warn(
    { part: 'init', agentId, host: hostOf(url), ms, reason: why },
    'a call goes on without the answer of its owner',
  );
  return { variables: {}, outcome: { ...outcome, ok: false, output: why } };
}

/** Never rejects. */
export async function askedBefore(
  init: ConversationInit,
  coming: Coming,
  parts: InitParts,
): Promise<Answered> {
  const { url, has_secret: signed, timeout_seconds: seconds } = init;
  const input = questionOf(coming);
  const since = parts.clock.monotonic();
  const question = { agentId: coming.agentId, url, signed, timeoutMs: seconds * 1000, body: input };
  const reply = await parts.askBeforeCall(question);
  const latencyMs = Math.round(parts.clock.monotonic() - since);
  const read = 'error' in reply ? reply : variablesIn(reply.text);
  const answered = { variables: {}, outcome: { ok: true, input, output: '', latencyMs } };
  if ('error' in read) return withoutIt(answered, read.error, init, coming, parts);
  const { variables } = read;
  return {
    variables,
    outcome: { ...answered.outcome, output: JSON.stringify({ dynamic_variables: variables }) },
  };
}
