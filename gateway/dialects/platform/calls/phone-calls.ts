/** Placing a call as the described platform does (docs/contract/platform.md 6.14): a thin face of `/calls`. */
import { LIMITS } from '../../../../contracts/limits.js';
import type { Caller, KeyAuthority } from '../../../../contracts/ports/accounts/identity.js';
import { answers, jsonBody } from '../../../server/openapi/openapi-parts.js';
import { json } from '../../../server/replies.js';
import { type RouteHandler, type RouteRow, tagged } from '../../../server/routes.js';
import { bodyFailures } from '../rows.js';
import { refusals } from '../sessions/creation.js';
import { reader, type WithRawMetadata } from '../sessions/request.js';
import { type CallForm, type CallPlacingParts, placeCall } from './placing.js';
import { type Codes, NO_OUTBOUND, reasoned } from './reasons.js';
import { idempotencyHeader, PhoneCallRequest, PlacedPhoneCall } from './schema.js';

export interface PlacedCallParts extends CallPlacingParts {
  readonly keys: KeyAuthority;
}

const readRequest = reader(PhoneCallRequest) as (
  body: Parameters<CallForm['read']>[0],
) => WithRawMetadata<PhoneCallRequest>;

const FORM: CallForm = {
  read(body) {
    const { phone_number_id: from, to_number: to, ...rest } = readRequest(body);
    return { ...rest, from, to };
  },
  fields: { from: 'phone_number_id', to: 'to_number' },
  keptMs: LIMITS.phone.idempotencyKeptMs,
};

/** The described platform's codes, where `/calls` has others. */
const CODES: Codes = {
  number_not_found: 'not_found',
  number_inactive: 'validation_failed',
  number_provider_unsupported: 'validation_failed',
  number_termination_missing: 'validation_failed',
  idempotency_key_reuse: 'validation_failed',
};

const place: RouteHandler<PlacedCallParts, Caller> = async (request, parts, caller) => {
  const { call } = await reasoned(() => placeCall(request, FORM, parts, caller), CODES);
  return json(201, { session_id: call.sessionId, status: 'queued' });
};

export const PHONE_CALL_ROWS: readonly RouteRow<PlacedCallParts, Caller>[] = tagged('phone', [
  {
    method: 'POST',
    path: '/v1/agent/phone-calls',
    // A call that is placed is a session.
    permission: 'sessions',
    handler: place,
    description: {
      summary: 'Place a phone call',
      description:
        'As the described platform does; `POST /v1/agent/calls` places the same calls, with more to say about them. The outcome is ' +
        '`dial_status` of the session, and comes to the agent’s `post_call` webhooks as `phone_call.dial_finished`. Errors have a `reason`.',
      parameters: [
        idempotencyHeader('201; for 24 hours. 422 for another request, 409 while the first one runs'),
      ],
      requestBody: jsonBody(PhoneCallRequest),
      responses: {
        ...answers(201, 'The session of the call', PlacedPhoneCall),
        ...bodyFailures(404),
        ...refusals(400, 402, 409, 429),
        ...NO_OUTBOUND,
      },
    },
  },
]);
