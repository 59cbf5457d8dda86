/**
 * One request to a provider's API, through the guard of outbound addresses. The result is true whatever the API does: it may
 * hang, be out of reach, refuse, or answer something that is not documented.
 */
import { LIMITS } from '../../../contracts/limits.js';
import { PHONE_CREDENTIALS } from '../../../contracts/phone/phone.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { type Outbound, OutboundError, type OutboundReply } from '../../../contracts/ports/outbound.js';
import { type Keeper, noKeeper, type Part, partOfAccount } from '../../../contracts/ports/parts.js';
import type { OpenedNumber } from '../../../contracts/ports/phone/phone.js';
import { type ApiRequest, CredentialError, type Dialling } from './dialling.js';
import { bodyOf, jsonObject, textIn } from './provider.js';

/** The reason of a failure, in words for the owner of the number. */
export interface ApiFailure {
  readonly failure: string;
}

const { apiMs, apiAnswerBytes, reason } = LIMITS.phone;

const fieldsOf = (reply: OutboundReply): PlainObject => jsonObject(bodyOf(reply)) ?? {};

/** Names that providers use for the reason of a refusal. */
const REASONS = ['message', 'detail', 'error'];

/** The provider's message in a refusal, on its own or in a list of errors. */
function messageIn(fields: PlainObject): string {
  const errors = fields['errors'];
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const said = isPlainObject(first) ? { ...first, ...fields } : fields;
  const message = REASONS.map((name) => textIn(said, name)).find((text) => text !== '') ?? '';
  return message.replace(/\s+/g, ' ').slice(0, reason);
}

const refused = (status: number, message: string): ApiFailure => ({
  failure: `The provider answered ${status}${message === '' ? '' : `: ${message}`}`,
});

export interface ApiParts {
  readonly outbound: Pick<Outbound, 'fetch'>;
  readonly keeper?: Keeper | undefined;
}

/** The credentials, and often the address, are those of the number's owner. */
const partOf = ({ provider }: OpenedNumber['number'], url: string): Part => ({
  ...partOfAccount('phone', url),
  name: provider,
});

/** `ask`: makes the request from the number's credentials. Follows no redirects, as none are documented. */
export async function askProvider(
  { number, api, secret }: OpenedNumber,
  dialling: Dialling,
  ask: (credentials: OpenedNumber['api']) => ApiRequest,
  { outbound, keeper = noKeeper }: ApiParts,
): Promise<{ readonly fields: PlainObject } | ApiFailure> {
  const kept = { timeoutMs: apiMs, captureBytes: apiAnswerBytes, redirects: 0 };
  try {
    const verifies = PHONE_CREDENTIALS[number.provider].verifies;
    const { path, ...request } = ask({ ...api, [verifies]: secret });
    const url = (number.apiUrl ?? dialling.apiUrl).replace(/\/+$/, '') + path;
    const question = keeper.ask(partOf(number, url), { workspaceId: number.workspaceId });
    const reply = await outbound.fetch({ ...request, url, ...kept }).catch((error: unknown) => {
      question.ended(error);
      throw error;
    });
    question.answered(reply.status);
    const fields = fieldsOf(reply);
    const isDone = reply.status >= 200 && reply.status < 300;
    return isDone ? { fields } : refused(reply.status, messageIn(fields));
  } catch (error) {
    if (error instanceof CredentialError) return { failure: error.message };
    if (!(error instanceof OutboundError)) throw error;
    return { failure: `The provider’s API: ${error.message}` };
  }
}
