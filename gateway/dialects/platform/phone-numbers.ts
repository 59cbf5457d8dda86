/** Phone numbers (docs/contract/platform.md 6.13). */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import {
  type ShortNumbers,
  STREAM_PROVIDERS,
  WRITTEN_ADDRESS,
  writtenAddress,
} from '../../../contracts/phone/phone.js';
import type { Outbound } from '../../../contracts/ports/outbound.js';
import type { PhoneNumber, PhoneNumberFilter, PhoneNumbers } from '../../../contracts/ports/phone/phone.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import type { KeyAuthority, Caller } from '../../../contracts/ports/accounts/identity.js';
import {
  PhoneNumberChange,
  PhoneNumberCreation,
  PhoneNumberEntity,
  PhoneSipConfig,
} from '../../../contracts/schemas/phone.js';
import { answers, jsonBody, queryParameter } from '../../server/openapi/openapi-parts.js';
import type { HttpRequest, Route } from '../../server/port.js';
import { json } from '../../server/replies.js';
import { keyedRoutes, tagged } from '../../server/routes.js';
import type * as routes from '../../server/routes.js';
import { readBody } from './bodies.js';
import { checked } from './checked.js';
import { foreignProblems, problem, refuse } from './errors.js';
import { numberOf, Page, pageBody, pageRequest, PAGING, textOf } from './paging.js';
import { credentialProblems, secretsOf } from './phone-credentials.js';
import { bodyFailures, failures, found, gone, idOf } from './rows.js';
import {
  sipChangeOf,
  sipChangeProblems,
  sipFieldsIn,
  sipProblems,
  sipSecretsOf,
  sipShown,
} from './sip-config.js';

export interface PhoneNumberParts {
  readonly keys: KeyAuthority;
  readonly numbers: PhoneNumbers;
  readonly outbound: Pick<Outbound, 'checkUrl'>;
}

type Handler = routes.RouteHandler<PhoneNumberParts, Caller>;

const WHAT = 'Phone number';
const NONE_SHORT: ShortNumbers = new Set();
const LIST = 'phone_numbers';

const checkCreation = checked(PhoneNumberCreation);
const checkChange = checked(PhoneNumberChange);
const checkSipConfig = checked(PhoneSipConfig);

const numberIdOf = (request: HttpRequest): string => idOf(request, 'phone_number_id', WHAT);

/** The address at which the provider asks who answers, or opens its media stream. Only the owner and the provider know it. */
const answerUrlOf = ({ provider, token }: PhoneNumber, baseUrl: string): string =>
  STREAM_PROVIDERS.has(provider)
    ? `${baseUrl.replace(/^http/, 'ws')}/v1/phone/${provider}/${token}`
    : `${baseUrl}/v1/phone/${provider}/answer/${token}`;

const ELSEWHERE = 'Another workspace has registered the number before, and gets its calls';

function statusOf({ belongsToAnother: isElsewhere, setUpFailure }: PhoneNumber) {
  const detail = isElsewhere ? ELSEWHERE : (setUpFailure ?? '');
  return { status: detail === '' ? 'active' : 'error', status_detail: detail };
}

const entityOf =
  ({ baseUrl }: HttpRequest) =>
  (number: PhoneNumber): object => ({
    phone_number_id: number.id,
    workspace_id: number.workspaceId,
    provider: number.provider,
    phone_number: number.address,
    label: number.label,
    agent_id: number.agentId,
    enabled: number.enabled,
    places_calls: number.placesCalls,
    supports_outbound: number.placesCalls,
    ...statusOf(number),
    ...sipShown(number),
    api_url: number.apiUrl,
    answer_url: answerUrlOf(number, baseUrl),
    ...(number.belongsToAnother && { belongs_to_another: true }),
    created_at: number.createdAt.toISOString(),
    updated_at: number.updatedAt.toISOString(),
  });

function urlProblems(url: string | null | undefined, { outbound }: PhoneNumberParts): Problem[] {
  const refusal = url ? outbound.checkUrl(url) : undefined;
  return refusal === undefined ? [] : [problem(['api_url'], `api_url ${refusal}`)];
}

/** Errors: `invalid_request`. */
function filterOf(query: URLSearchParams): PhoneNumberFilter {
  const address = numberOf(query, 'phone_number');
  const agentId = textOf(query, 'agent_id', LIMITS.session.agentId);
  return { ...(address !== undefined && { address }), ...(agentId !== undefined && { agentId }) };
}

const FILTERS = [
  queryParameter('phone_number', { type: 'string' }, 'Only this number, with or without its plus.'),
  queryParameter('agent_id', { type: 'string' }, 'Only numbers that this agent answers.'),
];

const list: Handler = async (request, { numbers }, { workspaceId }) => {
  const { query } = request;
  const listed = await numbers.list(workspaceId, filterOf(query), pageRequest(query, LIST));
  return json(200, pageBody(LIST, LIST, listed, entityOf(request)));
};

/** Problems of a new number's credentials, in either of their forms. */
function secretProblems(wanted: PhoneNumberCreation): readonly Problem[] {
  const { provider, credentials } = wanted;
  const fields = sipFieldsIn(wanted);
  if (fields.length > 0 && provider !== 'sip')
    return fields.map((name) => problem([name], `${provider} has no field ${name}`, 'unknown'));
  if (fields.length > 0 && credentials)
    return [problem(['credentials'], `credentials cannot be combined with ${fields[0]}`)];
  if (fields.length > 0) return sipProblems(wanted, true);
  if (!credentials) return [problem(['credentials'], 'missing field credentials', 'required')];
  return credentialProblems(provider, credentials, { verifies: false, places: false });
}

const create: Handler = async (request, parts, { workspaceId }) => {
  const wanted = checkCreation(await readBody(request));
  const { provider, agent_id: agentId = null, enabled = true, api_url: apiUrl = null, label = '' } = wanted;
  // Nobody is called at a short number of the workspace's own.
  const address = writtenAddress(wanted.phone_number, NONE_SHORT);
  refuse([
    ...(address === undefined ? [problem(['phone_number'], `phone_number ${WRITTEN_ADDRESS}`)] : []),
    ...secretProblems(wanted),
    ...urlProblems(apiUrl, parts),
  ]);
  const number = { provider, address: address ?? '', label, agentId, enabled, apiUrl };
  const isImport = sipFieldsIn(wanted).length > 0;
  const secrets = isImport
    ? sipSecretsOf(wanted)
    : { secret: '', ...secretsOf(provider, wanted.credentials ?? {}) };
  return json(201, entityOf(request)(await parts.numbers.create(number, secrets, workspaceId)));
};

const read: Handler = async (request, { numbers }, { workspaceId }) =>
  json(200, entityOf(request)(found(await numbers.read(numberIdOf(request), workspaceId), WHAT)));

const change: Handler = async (request, parts, { workspaceId }) => {
  const { numbers } = parts;
  const id = numberIdOf(request);
  const wanted = checkChange(await readBody(request));
  const number = found(await numbers.read(id, workspaceId), WHAT);
  const { provider, address, placesCalls: places } = number;
  const { label, agent_id: agentId, enabled, api_url: apiUrl, credentials = {} } = wanted;
  refuse([
    ...foreignProblems(wanted, {
      phone_number_id: id,
      workspace_id: workspaceId,
      provider,
      phone_number: address,
    }),
    ...sipChangeProblems(wanted, number),
    ...credentialProblems(provider, credentials, { verifies: true, places }),
    ...urlProblems(apiUrl, parts),
  ]);
  const changed = await numbers.change(id, workspaceId, {
    ...(label !== undefined && { label }),
    ...(agentId !== undefined && { agentId }),
    ...(enabled !== undefined && { enabled }),
    ...(apiUrl !== undefined && { apiUrl }),
    ...secretsOf(provider, credentials),
  });
  return json(200, entityOf(request)(found(changed, WHAT)));
};

const configureSip: Handler = async (request, { numbers }, { workspaceId }) => {
  const id = numberIdOf(request);
  const wanted = checkSipConfig(await readBody(request));
  const { provider } = found(await numbers.read(id, workspaceId), WHAT);
  if (provider !== 'sip')
    throw new ServiceError('conflict', { message: 'Only numbers of provider sip have this configuration' });
  refuse(sipProblems(wanted, false));
  const changed = await numbers.configureSip(id, workspaceId, sipChangeOf(wanted));
  return json(200, entityOf(request)(found(changed, WHAT)));
};

const remove: Handler = async (request, { numbers }, { workspaceId }) =>
  gone(await numbers.remove(numberIdOf(request), workspaceId), WHAT);

const NUMBERS = '/v1/agent/phone-numbers';
const NUMBER = `${NUMBERS}/{phone_number_id}`;

const ROWS: readonly routes.RouteRow<PhoneNumberParts, Caller>[] = tagged('phone', [
  {
    method: 'GET',
    path: NUMBERS,
    permission: 'read',
    handler: list,
    description: {
      summary: 'List phone numbers',
      description: 'Newest first.',
      parameters: [...FILTERS, ...PAGING],
      responses: { ...answers(200, 'One page', Page(LIST, PhoneNumberEntity)), ...failures(400) },
    },
  },
  {
    method: 'POST',
    path: NUMBERS,
    permission: 'manage',
    handler: create,
    audit: { action: 'number.created', subject: 'phone_number_id' },
    description: {
      summary: 'Add a phone number',
      description:
        'A number that you have at a provider. The agent answers its calls once the provider asks `answer_url` about ' +
        `them, and calls can be placed from it if it has the credentials of the provider’s API. 409 if the workspace has it already, or has ${LIMITS.phone.perWorkspace}.`,
      requestBody: jsonBody(PhoneNumberCreation),
      responses: { ...answers(201, 'The number', PhoneNumberEntity), ...bodyFailures(404, 409) },
    },
  },
  {
    method: 'GET',
    path: NUMBER,
    permission: 'read',
    handler: read,
    description: {
      summary: 'Read a phone number',
      responses: { ...answers(200, 'The number', PhoneNumberEntity), ...failures(404) },
    },
  },
  {
    method: 'PATCH',
    path: NUMBER,
    permission: 'manage',
    handler: change,
    audit: { action: 'number.changed', subject: 'phone_number_id' },
    description: {
      summary: 'Change a phone number',
      description:
        'Absent fields stay as they are, each credential too. Provider and number cannot be changed. Running calls are not affected.',
      requestBody: jsonBody(PhoneNumberChange),
      responses: { ...answers(200, 'The number', PhoneNumberEntity), ...bodyFailures(404) },
    },
  },
  {
    method: 'PUT',
    path: `${NUMBER}/sip-config`,
    permission: 'manage',
    handler: configureSip,
    audit: { action: 'number.changed', subject: 'phone_number_id' },
    description: {
      summary: 'Replace how calls of a number come and go over SIP',
      operationId: 'replaceSipConfig',
      description:
        'Of numbers of provider `sip` only. Absent fields are removed; an empty or absent password beside its username stays as it is, ' +
        'and without `termination_uri` no calls are placed any more. Running calls go on.',
      requestBody: jsonBody(PhoneSipConfig),
      responses: { ...answers(200, 'The number', PhoneNumberEntity), ...bodyFailures(404, 409) },
    },
  },
  {
    method: 'DELETE',
    path: NUMBER,
    permission: 'manage',
    handler: remove,
    audit: { action: 'number.deleted', subject: 'phone_number_id' },
    description: {
      summary: 'Remove a phone number',
      description:
        'You still have it at the provider, whose requests about it get 403 from then on. Running calls continue.',
      responses: { ...answers(204, 'Gone'), ...failures(404) },
    },
  },
]);

export const phoneNumberRoutes = (parts: PhoneNumberParts): readonly Route[] => keyedRoutes(ROWS, parts);
