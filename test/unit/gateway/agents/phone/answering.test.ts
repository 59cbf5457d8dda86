/** Answers to a provider whose call cannot be taken (gateway/agents/phone/answering.ts): busy, rejected, or an error. */
import t from '../../../../fixtures/tap.js';
import { UNBOUNDED_SHARE } from '../../../../../contracts/ports/accounts/memory.js';
import { type ErrorCode, ServiceError } from '../../../../../contracts/errors.js';
import { silentLog } from '../../../../../contracts/log.js';
import type { PhoneNumber } from '../../../../../contracts/ports/phone/phone.js';
import type { SessionRecord } from '../../../../../contracts/ports/sessions/sessions.js';
import { answer, type AnsweringParts } from '../../../../../gateway/agents/phone/answering.js';
import { twilio } from '../../../../../gateway/agents/phone/providers/twilio.js';
import { createStreamProofs, createStreamTokens } from '../../../../../gateway/agents/phone/stream-tokens.js';
import type { HttpRequest } from '../../../../../gateway/server/port.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { rejectsExactly } from '../../../../fixtures/exactly.js';
import { twilioDouble } from '../../../../fixtures/phone/twilio.js';
import { standIn } from '../../../../fixtures/stand-in.js';

const BASE = 'https://speech.example.com';
const PATH = '/v1/phone/twilio/answer';
const CALL = { callId: 'CA1', from: '+14155550123', to: '+493012345678' };

const NUMBER = {
  id: 'phone_1',
  workspaceId: 'w',
  agentId: 'agent_1',
  enabled: true,
  address: CALL.to,
} as PhoneNumber;

const NUMBERS: AnsweringParts['numbers'] = {
  find: () => Promise.resolve([]),
  addressed: () => Promise.resolve(undefined),
  tokened: () => Promise.resolve(undefined),
  known: () => Promise.resolve([]),
  prove: () => Promise.resolve(),
  note: () => Promise.resolve(true),
};

const KEY = new Uint8Array(32);
const PROOFS = createStreamProofs(KEY, new SimulatedClock());

function request(secret = 'secret', search = ''): HttpRequest {
  const { headers, body } = twilioDouble.ask(BASE + PATH + search, CALL, secret);
  return standIn<HttpRequest>({
    ...{ baseUrl: BASE, path: PATH, search, authenticated: () => undefined, params: {} },
    share: () => UNBOUNDED_SHARE,
    headers: new Map(Object.entries(headers as Record<string, string>)),
    async *body() {
      yield Buffer.from(body as string);
    },
  });
}

async function answered(
  more: Partial<AnsweringParts> = {},
  number = NUMBER,
  asked = request(),
): Promise<string> {
  const parts: AnsweringParts = {
    numbers: {
      ...NUMBERS,
      find: () => Promise.resolve([{ number, secret: 'secret', isProven: false }]),
    },
    sessions: { begin: () => Promise.resolve({ id: 'sess_1' } as SessionRecord) },
    calls: { hasRoomSomewhere: true },
    tokens: createStreamTokens(KEY),
    proofs: PROOFS,
    ...{ clock: new SimulatedClock(), log: silentLog },
    ...more,
  };
  return String((await answer(asked, twilio, parts)).body);
}

const failing = (code: ErrorCode): Partial<AnsweringParts> => ({
  sessions: { begin: () => Promise.reject(new ServiceError(code)) },
});

t.test(
  'a call that can be taken gets a stream to the same host, whose address proves that it was answered',
  async (t) => {
    const { url, token } = twilioDouble.streamOf(await answered())!;
    const [, proof = ''] = /^wss:\/\/speech\.example\.com\/v1\/phone\/twilio\/([\w.-]+)$/.exec(url) ?? [];
    t.match(PROOFS.verify('twilio', proof), /^call /);
    t.match(token, /^sess_1\./);
  },
);

t.test('an address is signed as it was entered at the provider, however its query is written', async (t) => {
  for (const search of ['?a=x%20y&b=~', '?b=1&a=2&b=1', '?q', '?a=%C3%A9+é'])
    t.ok(twilioDouble.streamOf(await answered({}, NUMBER, request('secret', search))), search);
});

t.test('a caller hears the busy tone if calling again may help, and is rejected otherwise', async (t) => {
  for (const code of ['concurrency_exceeded', 'overloaded', 'draining', 'storage_unavailable'] as const)
    t.match(await answered(failing(code)), '<Reject reason="busy"/>', code);
  for (const code of ['conflict', 'not_found', 'quota_exceeded', 'internal'] as const)
    t.match(await answered(failing(code)), '<Reject reason="rejected"/>', code);
  t.match(await answered({ calls: { hasRoomSomewhere: false } }), 'busy', 'no place, or the gateway stops');
});

t.test('with a LiveKit cluster phone calls are rejected, and no session is made', async (t) => {
  t.match(await answered({ ...failing('internal'), calls: undefined }), '<Reject reason="rejected"/>');
});

t.test('a number without an agent rings busy, one that is not enabled is rejected', async (t) => {
  const rung = (more: object) => answered(failing('overloaded'), { ...NUMBER, ...more });
  t.match(await rung({ agentId: null }), '<Reject reason="busy"/>');
  t.match(await rung({ enabled: false }), '<Reject reason="rejected"/>');
  t.match(await rung({ agentId: null, enabled: false }), '<Reject reason="rejected"/>');
});

t.test('while the database is away a call is not rejected, and the provider asks again', async (t) => {
  const away = {
    ...NUMBERS,
    find: () => Promise.reject(new ServiceError('storage_unavailable')),
  };
  await rejectsExactly(t, answered({ numbers: away }), { code: 'storage_unavailable', status: 503 });
});
