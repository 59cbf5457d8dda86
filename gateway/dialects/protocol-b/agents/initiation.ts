/** What a client says of its conversation before it begins: `conversation_initiation_client_data` (docs/contract/agent-elevenlabs.md 3). */
import { booleanOf } from '../../../../contracts/schemas/coerce.js';
import { B_CONVERSATION } from '../../../../contracts/options/conversation.js';
import {
  loggedOptions,
  refuseOptions,
  unlistedOptions,
  valueAt,
} from '../../../../contracts/options/reading.js';
import type { SessionDetails, WantedSession } from '../../../../contracts/ports/sessions/socket-sessions.js';
import { isPlainObject, type PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { LANGUAGES } from '../../../../contracts/speech/languages.js';
import { invalidMessage, OVERRIDE_PATHS } from './faults.js';

export interface Initiation {
  readonly overrides: WantedSession;
  readonly details: SessionDetails;
  /** The client wants no audio. */
  readonly textOnly: boolean;
}

export const DEFAULT_INITIATION: Initiation = { overrides: {}, details: {}, textOnly: false };

const OVERRIDES = 'conversation_config_override';
const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** The message's options by their paths. */
const optionsOf = (fields: PlainObject): PlainObject =>
  Object.fromEntries(Object.keys(B_CONVERSATION).map((path) => [path, valueAt(fields, path)]));

/** Names of what the message asks for without effect, as far as somebody may wonder. Errors: `unsupported_option`. */
export function withoutEffect(fields: PlainObject): readonly string[] {
  const options = optionsOf(fields);
  refuseOptions(options, B_CONVERSATION);
  return loggedOptions(options, B_CONVERSATION);
}

/** Names of what the initiation asks for that nobody knows here. */
export const unknownIn = (fields: PlainObject): readonly string[] => unlistedOptions(fields, B_CONVERSATION);

/** A language with a region is that language; one that no agent speaks is refused with the rest. */
const languageIn = (value: string): string =>
  LANGUAGES.find((known) => known === value.slice(0, 2).toLowerCase()) ?? value;

function overridesIn(fields: PlainObject): WantedSession {
  const given = Object.entries(OVERRIDE_PATHS).flatMap(([path, name]) => {
    const value = valueAt(fields, path);
    if (!isGiven(value)) return [];
    if (typeof value !== 'string') throw invalidMessage(`${path} must be of type string`, path);
    return [[name, name === 'language' ? languageIn(value) : value]];
  });
  return Object.fromEntries(given) as WantedSession;
}

function detailsIn({ dynamic_variables: variables, user_id: user }: PlainObject): SessionDetails {
  if (isGiven(variables) && !isPlainObject(variables))
    throw invalidMessage('dynamic_variables must be an object', 'dynamic_variables');
  if (isGiven(user) && typeof user !== 'string')
    throw invalidMessage('user_id must be of type string', 'user_id');
  return {
    ...(isPlainObject(variables) && { dynamic_variables: variables }),
    ...(typeof user === 'string' && user !== '' && { end_user_id: user }),
  };
}

const flag = (fields: PlainObject, path: string): boolean => booleanOf(valueAt(fields, path)) === true;

/** Errors: `invalid_request`. What the agent allows, and bounds, are checked as the session is made. */
export function readInitiation(fields: PlainObject): Initiation {
  const sent = fields[OVERRIDES];
  if (isGiven(sent) && !isPlainObject(sent))
    throw invalidMessage(`${OVERRIDES} must be an object`, OVERRIDES);
  return {
    overrides: overridesIn(fields),
    details: detailsIn(fields),
    textOnly: flag(fields, `${OVERRIDES}.conversation.text_only`) || flag(fields, `${OVERRIDES}.text_only`),
  };
}
