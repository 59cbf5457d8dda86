/**
 * Errors of a conversation (docs/contract/agent-elevenlabs.md 5): an `error` event in band. Its `code` is that of a close, also where
 * the socket stays open.
 */
import { type ErrorCode, ServiceError, toServiceError } from '../../../../contracts/errors.js';
import type { B_CONVERSATION } from '../../../../contracts/options/conversation.js';
import { toldMessage } from '../../../../contracts/speech/missing-voice.js';
import { slugOf, VOICE_LIST } from '../errors.js';

/** Words of the vendor's protocol. */
type FaultType = 'invalid_message' | 'override_error' | 'max_duration_exceeded' | 'unknown';

export interface ConversationFault {
  readonly code: 1000 | 1008 | 1011;
  readonly type: FaultType;
  readonly message: string;
  /** Our own code of the error, and the option at fault. */
  readonly details: { readonly code: string; readonly param?: string };
}

const OVERRIDES = 'overrides.';

/** Our names of what a client may override, by its own. */
export const OVERRIDE_PATHS = {
  'conversation_config_override.agent.prompt.prompt': 'system_prompt',
  'conversation_config_override.agent.first_message': 'first_message',
  'conversation_config_override.agent.language': 'language',
  'conversation_config_override.tts.voice_id': 'voice_id',
} as const satisfies Partial<Record<keyof typeof B_CONVERSATION, string>>;

/** The option in the client's words. */
function spelled(param: string): string {
  const found = Object.entries(OVERRIDE_PATHS).find(([, name]) => param === `${OVERRIDES}${name}`);
  return found?.[0] ?? param;
}

const TYPES: Partial<Record<ErrorCode, FaultType>> = {
  invalid_request: 'invalid_message',
  malformed_body: 'invalid_message',
  unsupported_option: 'invalid_message',
  validation_failed: 'invalid_message',
  rate_limited: 'invalid_message',
  connection_expired: 'max_duration_exceeded',
};

const FAILED = 500;

/** The place of the first problem, as a path. */
const placeOf = ({ param, problems }: ServiceError): string | undefined =>
  param ?? problems?.[0]?.loc.filter((part) => part !== 'body').join('.');

/** The error as its client is told it. */
export function faultOf(cause: unknown): ConversationFault {
  const error = toServiceError(cause);
  const param = placeOf(error);
  const own = param === undefined ? undefined : spelled(param);
  const told = toldMessage(error, VOICE_LIST);
  return {
    code: error.status >= FAILED ? 1011 : 1008,
    type: own === param ? (TYPES[error.code] ?? 'unknown') : 'override_error',
    message: param === undefined || own === undefined ? told : told.replaceAll(param, own),
    details: { code: slugOf(error), ...(own !== undefined && { param: own }) },
  };
}

export const invalidMessage = (message: string, param?: string): ServiceError =>
  new ServiceError('invalid_request', { message, ...(param !== undefined && { param }) });
