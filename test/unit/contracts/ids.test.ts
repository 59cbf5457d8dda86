/** Ids of resources. */
import t from '../../fixtures/tap.js';
import { type IdKind, randomHex, randomIds } from '../../../contracts/ids.js';

t.test('ids are random, whatever else was taken from the pool', async (t) => {
  const taken = new Set<string>();
  for (let count = 0; count < 3000; count += 1) {
    taken.add(randomHex(12));
    taken.add(randomIds.next('session'));
    randomHex(count % 7);
  }
  t.equal(taken.size, 6000);
  for (const id of taken) if (!/^(sess_)?[0-9a-f]{24}$/.test(id)) t.fail(id);
  t.equal(randomHex(4096).length, 8192, 'as many as the pool has');
  t.notMatch(randomHex(4096), /0{64}/, 'and then new ones');
});

t.test('an id says what it is the id of', async (t) => {
  const formats: Readonly<Record<IdKind, RegExp>> = {
    generation: /^gen-[0-9a-f]{24}$/,
    workspace: /^ws_[0-9a-f]{24}$/,
    key: /^key_[0-9a-f]{24}$/,
    job: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    voice: /^[0-9a-f]{32}$/,
    event: /^evt_[0-9a-f]{24}$/,
    agent: /^agent_[0-9a-f]{24}$/,
    tool: /^tool_[0-9a-f]{24}$/,
    knowledge: /^ks_[0-9a-f]{24}$/,
    session: /^sess_[0-9a-f]{24}$/,
    scenario: /^scn_[0-9a-f]{24}$/,
    suite: /^suite_[0-9a-f]{24}$/,
    testRun: /^run_[0-9a-f]{24}$/,
    phone: /^phone_[0-9a-f]{24}$/,
    call: /^call_[0-9a-f]{24}$/,
    transfer: /^transfer_[0-9a-f]{24}$/,
  };
  for (const [kind, format] of Object.entries(formats)) t.match(randomIds.next(kind as IdKind), format, kind);
});
