/** Calls that agents place (docs/contract/platform.md 6.14). Calls of other workspaces are not found. */
import { placedCallBody } from '../../../../contracts/phone/placed-call.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import { answers, jsonBody } from '../../../server/openapi/openapi-parts.js';
import type { HttpRequest, Route } from '../../../server/port.js';
import { json } from '../../../server/replies.js';
import { keyedRoutes, tagged } from '../../../server/routes.js';
import type * as routes from '../../../server/routes.js';
import { Page, pageBody, pageRequest, PAGING } from '../paging.js';
import { bodyFailures, failures, found, idOf } from '../rows.js';
import { refusals } from '../sessions/creation.js';
import { reader } from '../sessions/request.js';
import { PHONE_CALL_ROWS, type PlacedCallParts } from './phone-calls.js';
import { type CallForm, placeCall } from './placing.js';
import { NO_OUTBOUND, reasoned } from './reasons.js';
import { CallEntity } from '../../../../contracts/schemas/placed-calls.js';
import { CallRequest, idempotencyHeader } from './schema.js';

type Handler = routes.RouteHandler<PlacedCallParts, Caller>;

const WHAT = 'Call';
const LIST = 'calls';

/** Errors: `not_found`. */
const callOf = async (request: HttpRequest, { placed }: PlacedCallParts, { workspaceId }: Caller) =>
  found(await placed.read(idOf(request, 'call_id', WHAT), workspaceId), WHAT);

const FORM: CallForm = {
  read: reader(CallRequest) as CallForm['read'],
  fields: { from: 'from', to: 'to' },
};

const create: Handler = async (request, parts, caller) => {
  const { call, known } = await reasoned(() => placeCall(request, FORM, parts, caller));
  return json(known ? 200 : 201, placedCallBody(call));
};

const list: Handler = async ({ query }, { placed }, { workspaceId }) => {
  const page = await placed.list(workspaceId, pageRequest(query, LIST));
  return json(200, pageBody(LIST, LIST, page, placedCallBody));
};

const read: Handler = async (...of) => json(200, placedCallBody(await callOf(...of)));

const cancel: Handler = async (request, parts, caller) =>
  json(200, placedCallBody(await parts.dialling.cancel(await callOf(request, parts, caller))));

const CALLS = '/v1/agent/calls';
const CALL = `${CALLS}/{call_id}`;

const ROWS: readonly routes.RouteRow<PlacedCallParts, Caller>[] = tagged('phone', [
  {
    method: 'POST',
    path: CALLS,
    // A call that is placed is a session.
    permission: 'sessions',
    handler: create,
    description: {
      summary: 'Place a call',
      description:
        'An agent calls somebody from one of the workspace’s numbers. It is a session from the beginning, with its limits and ' +
        'quotas. Its state can be read here; its end is sent to the agent’s `post_call` webhooks as `phone_call.ended`.',
      parameters: [idempotencyHeader('200; for as long as the call. 409 for another request')],
      requestBody: jsonBody(CallRequest),
      responses: {
        ...answers(200, 'The call of an earlier request with this key', CallEntity),
        ...answers(201, 'The call', CallEntity),
        ...bodyFailures(404),
        ...refusals(400, 402, 409, 429),
        ...NO_OUTBOUND,
      },
    },
  },
  {
    method: 'GET',
    path: CALLS,
    permission: 'records',
    handler: list,
    description: {
      summary: 'List placed calls',
      description: 'Newest first.',
      parameters: PAGING,
      responses: { ...answers(200, 'One page', Page(LIST, CallEntity)), ...failures(400) },
    },
  },
  {
    method: 'GET',
    path: CALL,
    permission: 'records',
    handler: read,
    description: {
      summary: 'Read a placed call',
      responses: { ...answers(200, 'The call', CallEntity), ...failures(404) },
    },
  },
  {
    method: 'POST',
    path: `${CALL}/cancel`,
    permission: 'sessions',
    whileDraining: true,
    handler: cancel,
    description: {
      summary: 'Cancel a placed call',
      description:
        'A ringing call is given up, an answered one ends with its session. A call that has ended stays as it is.',
      responses: { ...answers(200, 'The call as it is then', CallEntity), ...failures(404) },
    },
  },
]);

export const callRoutes = (parts: PlacedCallParts): readonly Route[] =>
  keyedRoutes([...ROWS, ...PHONE_CALL_ROWS], parts);
