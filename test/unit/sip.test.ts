/** What a LiveKit server is asked to store of SIP numbers, who answers calls that come in, and the pace of keys (docs/sip.md). */
import { RoomConfiguration, SIPDispatchRuleInfo, SIPInboundTrunkInfo } from '@livekit/protocol';
import t from 'tap';
import { CREDENTIAL_FORMS } from '../../contracts/phone.js';
import type { SipNumber } from '../../contracts/ports/sip.js';
import { pressKeys } from '../../media/livekit/keys.js';
import { keepNumbers, type SipStore } from '../../media/livekit/sip-numbers.js';

/** What a server stores, in memory. */
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
    const { metadata = '', allowedAddresses = [] } = options ?? {};
    const sipTrunkId = `ST_${(this.#ids += 1)}`;
    const trunk = new SIPInboundTrunkInfo({ sipTrunkId, name, numbers, metadata, allowedAddresses });
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
      ...{ store, agentName: 'gw', ringSeconds: 15 },
      roomOf: (id) => new RoomConfiguration({ metadata: id }),
    });
  await store.createSipInboundTrunk('somebody else’s', ['+1'], {});
  const first = number('phone_1', '+493012345678', '203.0.113.0/24');
  await keep(first, number('phone_2', 'sip:shop@example.com', '10.0.0.1'));
  t.match(store.trunks, [
    { name: 'somebody else’s' },
    { name: 'gw:phone_1', numbers: ['+493012345678'], allowedAddresses: ['203.0.113.0/24'] },
    { name: 'gw:phone_2', numbers: ['shop'] },
  ]);
  t.match(store.rules, [
    { name: 'gw:phone_1', trunkIds: [store.trunks[1]?.sipTrunkId], roomConfig: { metadata: 'phone_1' } },
    { name: 'gw:phone_2', trunkIds: [store.trunks[2]?.sipTrunkId] },
  ]);

  store.changes = 0;
  await keep(first, number('phone_2', 'sip:shop@example.com', '10.0.0.1'));
  t.equal(store.changes, 0, 'what is as it should be is left alone');

  await keep({ ...first, sources: ['198.51.100.7'] });
  t.match(store.trunks, [{ name: 'somebody else’s' }, { allowedAddresses: ['198.51.100.7'] }]);
  t.match(store.rules, [{ trunkIds: [store.trunks[1]?.sipTrunkId] }]);
  t.equal(store.rules.length, 1);

  // Two processes were at it.
  const [, { name, metadata, numbers } = store.trunks[0]!] = store.trunks;
  await store.createSipInboundTrunk(name, numbers, { metadata });
  await keep({ ...first, sources: ['198.51.100.7'] });
  t.equal(store.trunks.length, 2);
  t.match(store.rules, [{ trunkIds: [store.trunks[1]?.sipTrunkId] }]);

  store.refused = '+4930999';
  const refused = keep(number('phone_3', '+4930999', '::1'), number('phone_4', '+4930888', '::1'));
  await t.rejects(refused, /conflicting trunks/);
  t.same(
    store.trunks.map((trunk) => trunk.name),
    ['somebody else’s', 'gw:phone_4'],
    'one that is refused holds up nobody',
  );
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
  for (const good of ['sip.example.com', '203.0.113.7:5060']) t.ok(fits('server', good), good);
  for (const bad of ['sip:example.com', 'a b', 'user@host', 'host;transport=tcp', 'host:5060/x'])
    t.notOk(fits('server', bad), bad);
  t.end();
});
