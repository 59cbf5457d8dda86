/** SIP numbers in the store of a LiveKit server, answering of incoming calls, and the pace of keys (docs/sip.md). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { httpDouble } from '../../../fixtures/http-double.js';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  ParticipantInfo_Kind as Kind,
  RoomConfiguration,
  SIPDispatchRuleInfo,
  SIPInboundTrunkInfo,
} from '@livekit/protocol';
import type { Test } from 'tap';
import t from '../../../fixtures/tap.js';
import { silentLog } from '../../../../contracts/log.js';
import { CREDENTIAL_FORMS } from '../../../../contracts/phone/phone.js';
import type { NewTransfer, Transfers } from '../../../../contracts/ports/phone/transfers.js';
import type { SipNumber, SipReferral } from '../../../../contracts/ports/phone/sip.js';
import type { Transfer } from '../../../../contracts/phone/transfers.js';
import { referring } from '../../../../gateway/agents/phone/sip/referring.js';
import { Transferring, type TransferringParts } from '../../../../gateway/agents/phone/transferring.js';
import { pressKeys } from '../../../../media/livekit/keys.js';
import { keepNumbers, type SipStore } from '../../../../media/livekit/sip-numbers.js';
import { createSipService } from '../../../../media/livekit/sip-service.js';
import { SimulatedClock } from '../../../fixtures/clock.js';
import { exactly } from '../../../fixtures/exactly.js';
import { standIn } from '../../../fixtures/stand-in.js';

/** A server's store, in memory. */
class Store implements SipStore {
  readonly trunks: SIPInboundTrunkInfo[] = [];
  readonly rules: SIPDispatchRuleInfo[] = [];
  refused = '';
  changes = 0;
  #ids = 0;

  listSipInboundTrunk = () => Promise.resolve([...this.trunks]);
  listSipDispatchRule = () => Promise.resolve([...this.rules]);

  createSipInboundTrunk: SipStore['createSipInboundTrunk'] = (name, numbers, options) => {
    if (numbers.includes(this.refused)) return Promise.reject(new Error('conflicting trunks'));
    this.changes += 1;
    const { metadata = '', allowedAddresses = [], authUsername = '', authPassword = '' } = options ?? {};
    const sipTrunkId = `ST_${(this.#ids += 1)}`;
    const account = { authUsername, authPassword };
    const trunk = new SIPInboundTrunkInfo({
      sipTrunkId,
      name,
      numbers,
      metadata,
      allowedAddresses,
      ...account,
    });
    this.trunks.push(trunk);
    return Promise.resolve(trunk);
  };

  createSipDispatchRule: SipStore['createSipDispatchRule'] = (_rule, options) => {
    this.changes += 1;
    const { name = '', metadata = '', trunkIds = [], roomConfig } = options ?? {};
    const sipDispatchRuleId = `SDR_${(this.#ids += 1)}`;
    const rule = new SIPDispatchRuleInfo({
      ...{ sipDispatchRuleId, name, metadata, trunkIds },
      ...(roomConfig && { roomConfig }),
    });
    this.rules.push(rule);
    return Promise.resolve(rule);
  };

  deleteSipTrunk: SipStore['deleteSipTrunk'] = (id) => {
    this.changes += 1;
    const at = this.trunks.findIndex(({ sipTrunkId }) => sipTrunkId === id);
    this.trunks.splice(at, 1);
    return Promise.resolve(undefined as never);
  };

  deleteSipDispatchRule: SipStore['deleteSipDispatchRule'] = (id) => {
    this.changes += 1;
    const at = this.rules.findIndex(({ sipDispatchRuleId }) => sipDispatchRuleId === id);
    return Promise.resolve(this.rules.splice(at, 1)[0]!);
  };
}

const number = (id: string, address: string, ...sources: string[]): SipNumber => ({ id, address, sources });

t.test('a server has a trunk and a rule of each number, and of no other', async (t) => {
  const store = new Store();
  const keep = (...numbers: SipNumber[]) =>
    keepNumbers(numbers, {
      ...{ store, agentName: 'gw', trunk: { ringingTimeout: 15 } },
      roomOf: (id) => new RoomConfiguration({ metadata: id }),
    });
  await store.createSipInboundTrunk('somebody else’s', ['+1'], {});
  const first = number('phone_1', '+493012345678', '203.0.113.0/24');
  await keep(first, number('phone_2', 'sip:shop@example.com', '10.0.0.1'));
  exactly(t, store.trunks, [
    { name: 'somebody else’s' },
    { name: 'gw:phone_1', numbers: ['+493012345678'], allowedAddresses: ['203.0.113.0/24'] },
    { name: 'gw:phone_2', numbers: ['shop'] },
  ]);
  exactly(t, store.rules, [
    { name: 'gw:phone_1', trunkIds: [store.trunks[1]?.sipTrunkId], roomConfig: { metadata: 'phone_1' } },
    { name: 'gw:phone_2', trunkIds: [store.trunks[2]?.sipTrunkId] },
  ]);

  store.changes = 0;
  await keep(first, number('phone_2', 'sip:shop@example.com', '10.0.0.1'));
  t.equal(store.changes, 0, 'what is as it should be is left alone');

  await keep({ ...first, sources: ['198.51.100.7'] });
  exactly(t, store.trunks, [{ name: 'somebody else’s' }, { allowedAddresses: ['198.51.100.7'] }]);
  exactly(t, store.rules, [{ trunkIds: [store.trunks[1]?.sipTrunkId] }]);
  t.equal(store.rules.length, 1);

  // As if two processes had written at once.
  const [, { name, metadata, numbers } = store.trunks[0]!] = store.trunks;
  await store.createSipInboundTrunk(name, numbers, { metadata });
  await keep({ ...first, sources: ['198.51.100.7'] });
  t.equal(store.trunks.length, 2);
  exactly(t, store.rules, [{ trunkIds: [store.trunks[1]?.sipTrunkId] }]);

  store.refused = '+4930999';
  const refused = await keep(number('phone_3', '+4930999', '::1'), number('phone_4', '+4930888', '::1'));
  t.strictSame([...refused.keys()], ['phone_3']);
  t.match(refused.get('phone_3'), /conflicting trunks/);
  t.same(
    store.trunks.map((trunk) => trunk.name),
    ['somebody else’s', 'gw:phone_4'],
    'one that is refused holds up nobody',
  );
});

t.test('a trunk asks for the number’s account, and is never open to everybody', async (t) => {
  const store = new Store();
  const keep = (...numbers: SipNumber[]) =>
    keepNumbers(numbers, {
      ...{ store, agentName: 'gw', trunk: { ringingTimeout: 15 } },
      roomOf: (id) => new RoomConfiguration({ metadata: id }),
    });
  const plain = number('phone_1', '+493012345678', '203.0.113.7');
  await keep(plain);
  const { metadata } = store.trunks[0]!;
  t.equal(
    metadata,
    '4021d2676074b4ddc8cc1e4aafe1ae3a',
    'of releases that knew no accounts: their trunks stay',
  );
  const account = { username: 'caller', password: 'secret' };
  await keep({ ...plain, account });
  exactly(t, store.trunks, [
    { authUsername: 'caller', authPassword: 'secret', allowedAddresses: ['203.0.113.7'] },
  ]);
  store.changes = 0;
  await keep({ ...plain, account });
  t.equal(store.changes, 0);
  await keep({ ...plain, account: { ...account, password: 'another' } });
  exactly(t, store.trunks, [{ authPassword: 'another' }]);
  await keep({ ...plain, sources: [], account });
  exactly(t, store.trunks, [{ authUsername: 'caller', allowedAddresses: [] }]);
  const open = await keep({ ...plain, sources: [] });
  t.match(open.get(plain.id), /neither addresses nor an account/);
  t.same(store.trunks, []);
});

t.test('keys are sent one after the other, with their codes, and one that fails is lost alone', async (t) => {
  // The pauses between keys keep no process alive.
  const alive = setInterval(() => undefined, 60_000);
  t.teardown(() => clearInterval(alive));
  const sent: string[] = [];
  await pressKeys('1x#*', (code, key) => {
    sent.push(`${code} ${key}`);
    return key === '#' ? Promise.reject(new Error('not connected')) : Promise.resolve();
  });
  t.same(sent, ['1 1', '11 #', '10 *']);
});

t.test('addresses and servers of SIP credentials', (t) => {
  const fits = (name: string, value: string): boolean => CREDENTIAL_FORMS[name]![0].test(value);
  for (const good of ['203.0.113.7', '203.0.113.0/24, 2001:db8::/32', '::1,10.0.0.1'])
    t.ok(fits('allowed_addresses', good), good);
  for (const bad of [
    '',
    'example.com',
    '10.0.0.1;10.0.0.2',
    '10.0.0.1,',
    `${'10.0.0.1,'.repeat(40)}10.0.0.1`,
  ])
    t.notOk(fits('allowed_addresses', bad), bad);
  for (const good of ['sip.example.com', '203.0.113.7:5060', 'host;transport=tcp', 'host:5061;transport=TLS'])
    t.ok(fits('server', good), good);
  for (const bad of ['sip:example.com', 'a b', 'user@host', 'host;transport=ws', 'host;x=y', 'host:5060/x'])
    t.notOk(fits('server', bad), bad);
  t.end();
});

/** A LiveKit server's API with a caller in its room; `answers` to REFERs, one after the other; `undefined`: success. */
async function apiWith(t: Test, answers: (object | undefined)[], inRoom = true) {
  const asked: Record<string, unknown>[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await text(request)) as Record<string, unknown>;
    const lists = request.url?.endsWith('ListParticipants') ?? false;
    const caller = { identity: 'sip_+14155550123', kind: Kind[Kind.SIP], attributes: {} };
    if (!lists) asked.push(body);
    const refusal = lists ? undefined : answers.shift();
    response.writeHead(refusal ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(refusal ?? (lists ? { participants: inRoom ? [caller] : [] } : {})));
  };
  const server = httpDouble((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const key = { key: 'key', secret: 'secret-of-at-least-thirty-two-bytes' };
  return { asked, sip: createSipService({ url: `http://127.0.0.1:${port}`, ...key }, 'gw') };
}

/** The server's report of a status in the SIP answer. */
const answered = (code: number, status: string) => ({
  code: 'unavailable',
  msg: 'transfer failed',
  meta: { sip_status_code: String(code), sip_status: status },
});

t.test('what the other side answers to REFER is what becomes of the transfer', async (t) => {
  const rows: readonly (readonly [answer: object | undefined, outcome: SipReferral | undefined])[] = [
    [undefined, undefined],
    [answered(486, 'Busy Here'), { state: 'busy' }],
    [answered(600, 'Busy Everywhere'), { state: 'busy' }],
    [answered(408, 'Request Timeout'), { state: 'no_answer' }],
    [answered(480, 'Temporarily Unavailable'), { state: 'no_answer' }],
    [answered(487, 'Request Terminated'), { state: 'no_answer' }],
    [answered(603, 'Decline'), { state: 'refused', reason: 'The SIP server answered 603 Decline' }],
    [
      answered(405, 'Method Not Allowed'),
      { state: 'failed', reason: 'The SIP server answered 405 Method Not Allowed' },
    ],
    [
      { code: 'internal', msg: 'no such participant' },
      { state: 'failed', reason: 'no such participant' },
    ],
  ];
  const { asked, sip } = await apiWith(
    t,
    rows.map(([answer]) => answer),
  );
  for (const [answer, outcome] of rows)
    t.strictSame(await sip.refer('room', '+491771234567', 30), outcome, JSON.stringify(answer));
  exactly(t, asked[0], {
    roomName: 'room',
    participantIdentity: 'sip_+14155550123',
    transferTo: 'tel:+491771234567',
  });
  t.equal(asked[0]?.['ringingTimeout'], '30s');
  const empty = await apiWith(t, [], false);
  exactly(t, await empty.sip.refer('room', 'sip:desk@example.com', 30), { state: 'cancelled' });
  t.same(empty.asked, [], 'nobody is asked for a caller who has gone');
});

t.test('a carrier is called over its transport, and its sound is encrypted behind TLS', async (t) => {
  const leg = { room: 'room', from: '+493012345678', to: '+491771234567', ringSeconds: 30 };
  const account = { username: 'shop', password: 'secret' };
  const rows = [
    ['sip.example.com', { hostname: 'sip.example.com' }, undefined],
    ['SIP.example.com:5070;transport=tcp', { hostname: 'sip.example.com:5070', transport: 'TCP' }, undefined],
    ['sip.example.com;transport=udp', { hostname: 'sip.example.com', transport: 'UDP' }, undefined],
    ['sip.example.com;transport=TLS', { hostname: 'sip.example.com', transport: 'TLS' }, 'REQUIRE'],
  ] as const;
  const { asked, sip } = await apiWith(t, []);
  for (const [server] of rows) t.equal(await sip.dial({ ...leg, ...account, server }), undefined, server);
  for (const [at, [server, route, encryption]] of rows.entries()) {
    const transport = 'transport' in route && { transport: `SIP_TRANSPORT_${route.transport}` };
    const trunk = { ...route, ...transport, authUsername: 'shop', authPassword: 'secret' };
    const media = encryption && { encryption: `SIP_MEDIA_ENCRYPT_${encryption}` };
    t.strictSame([asked[at]?.['trunk'], asked[at]?.['media']], [trunk, media], server);
  }
});

t.test('calls that come in may have encrypted sound', async (t) => {
  const { asked, sip } = await apiWith(t, []);
  await sip.keep([number('phone_1', '+493012345678', '203.0.113.0/24')]);
  const trunks = asked.flatMap((body) => (body['trunk'] ? [body['trunk']] : []));
  exactly(t, trunks, [{ numbers: ['+493012345678'], mediaEncryption: 'SIP_MEDIA_ENCRYPT_ALLOW' }]);
});

const CALLED = {
  id: 'sess_1',
  workspaceId: 'ws_1',
  direction: 'inbound',
  room: 'call_room',
  callerNumber: '+14155550123',
  dialedNumber: '+493012345678',
} as const;

const RINGING = { id: 'transfer_1', state: 'ringing', createdAt: new Date(0) } as const;

/** Transfers with rows in memory, for a caller whose side answers REFER with `outcome`. */
function referredWith(outcome: SipReferral | undefined, underWay = false) {
  const rows: NewTransfer[] = [];
  const told: string[] = [];
  const transfers = {
    begin(row) {
      rows.push(row);
      return Promise.resolve(
        underWay ? undefined : ({ ...row, ...RINGING } as Partial<Transfer> as Transfer),
      );
    },
    finish(id, state, reason) {
      told.push(`${state}${reason === undefined ? '' : `: ${reason}`}`);
      return Promise.resolve({ ...rows[0], ...RINGING, id, state, reason: reason ?? null } as Transfer);
    },
    bringBack(id) {
      told.push(`${id} is back`);
      return Promise.resolve(undefined);
    },
    overdue: () => Promise.resolve([]),
  } as Partial<Transfers> as Transfers;
  const clock = new SimulatedClock();
  const parts = { transfers, clock, log: silentLog, shortNumbers: new Set(['112']) };
  const transferring = new Transferring(parts as Partial<TransferringParts> as TransferringParts);
  const transfer = referring(CALLED, {
    transfers,
    transferring,
    numbers: { named: () => Promise.resolve([standIn({ id: 'phone_1', provider: 'sip' })]) },
    sip: {
      refer(room, to, seconds) {
        told.push(`${room} ${to} ${seconds}`);
        return Promise.resolve(outcome);
      },
    },
    log: silentLog,
  });
  return { rows, told, transfer };
}

const wantedTo = (to: string, signal = new AbortController().signal) => ({
  ...({ toolCallId: 'call_1', label: 'Sales', to, mode: 'cold', briefing: null, signal } as const),
});

t.test('a transfer by REFER has the row of all transfers, and its outcome', async (t) => {
  const asked = 'call_room +491771234567 30';
  const done = referredWith(undefined);
  t.equal(await done.transfer.begin(wantedTo('+49 177 1234567')), undefined);
  exactly(t, done.rows, [
    {
      ...{ sessionId: 'sess_1', numberId: 'phone_1', provider: 'sip', callerCallId: 'call_room' },
      ...{ toolCallId: 'call_1', mode: 'cold', label: 'Sales', to: '+491771234567', briefing: null },
    },
  ]);
  t.strictSame(done.told, [asked, 'connected']);

  const busy = referredWith({ state: 'busy' });
  t.match(await busy.transfer.begin(wantedTo('+491771234567')), /^The line is busy \(Sales\)/);
  t.strictSame(busy.told, [asked, 'busy', 'transfer_1 is back']);

  const declined = referredWith({ state: 'refused', reason: 'The SIP server answered 603 Decline' });
  t.match(
    await declined.transfer.begin(wantedTo('+491771234567')),
    /603 Decline\. The caller is with you again/,
  );

  const left = referredWith({ state: 'failed', reason: 'no such participant' });
  t.ok(await left.transfer.begin(wantedTo('+491771234567', AbortSignal.abort())));
  t.strictSame(left.told, [asked, 'cancelled: The caller hung up'], 'and nobody is back');

  const second = referredWith(undefined, true);
  t.equal(await second.transfer.begin(wantedTo('+491771234567')), 'The call is being transferred already');
  t.match(await second.transfer.begin(wantedTo('the desk')), /^The destination is no phone number /);
  t.same(second.told, [], 'nobody was asked');
});
