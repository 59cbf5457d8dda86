/** The checks of a chaos run detect the faults that they are for (test/chaos). */
import t from '../../../fixtures/tap.js';
import { violations } from '../../../chaos/checks.js';
import type { CallRecord, Fault, FaultKind, Recorded, Return } from '../../../chaos/record.js';

const fault = (kind: FaultKind): Fault => ({ kind, node: 'node-1', from: 10_000, to: 20_000 });
const WELL: Recorded = {
  faults: [fault('kill')],
  writes: [
    { name: 'one', acknowledged: true },
    { name: 'two', acknowledged: false },
  ],
  kept: ['one'],
  promised: [{ id: 'ended', body: '{}' }],
  received: [
    { id: 'ended', body: '{}' },
    { id: 'ended', body: '{}' },
  ],
  calls: [],
  failures: [{ at: 15_000, what: 'socket', told: 1006 }],
  doubledItems: [],
  left: [],
};
const back = (why: Return['why']): Return => ({ at: 15_000, why, refusals: [503], back: 16_000 });
const CALL: CallRecord = {
  session: 's',
  from: 5000,
  to: 25_000,
  answers: 2,
  gap: 5000,
  returns: [back('gone')],
  silent: false,
  hungUp: true,
  reason: 'hangup',
};
const call = (more: Partial<CallRecord>, kind: FaultKind = 'kill'): Partial<Recorded> => ({
  calls: [{ ...CALL, ...more }],
  faults: [fault(kind)],
  failures: [],
});
const told = (what: number | string, kind: FaultKind, at = 15_000): Partial<Recorded> => ({
  failures: [{ at, what: 'request', told: what }],
  faults: [fault(kind)],
});

const ALLOWED: Record<string, Partial<Recorded>> = {
  'a write that nobody was told of, and that was done': { kept: ['one', 'two'] },
  'a call that was taken over': call({}),
  'a call that failed with its node': call({ reason: 'transport_lost', hungUp: false }),
  'a call of a node that drained': call({ returns: [] }, 'drain'),
  'an answer that a busy machine owes for long': call({ returns: [back('unanswered')] }, 'drain'),
  'a request that had to wait': told(503, 'drain'),
  'a socket that was told to come again': told(1012, 'drain'),
  'a request whose node died': told(502, 'kill'),
};
const FOUND: Record<string, [Partial<Recorded>, RegExp]> = {
  'a write that is lost': [{ kept: [] }, /^writes: one was acknowledged and is lost$/],
  'a write that was done twice': [{ kept: ['one', 'two', 'two'] }, /^writes: two was written 2 times$/],
  'a delivery that never came': [{ received: [] }, /^deliveries: ended was never delivered$/],
  'a delivery with another body': [
    { received: [...WELL.received, { id: 'ended', body: '' }] },
    /with another body/,
  ],
  'a delivery of nothing': [{ received: [...WELL.received, { id: 'x', body: '' }] }, /never promised/],
  'a call that goes on': [call({ reason: null }), /^calls: call s has not ended$/],
  'a call whose user waits in vain': [call({ silent: true }), /was not answered/],
  'a call that a rolling upgrade breaks': [call({}, 'drain'), /was gone at 15000 by no fault/],
  'a call that fails though nothing does': [
    call({ reason: 'transport_lost', returns: [], hungUp: false }, 'drain'),
    /without a fault/,
  ],
  'a reason that is none': [call({ reason: 'timeout', hungUp: false }), /which nobody did/],
  'an error that no client is to see': [
    told(500, 'kill'),
    /^failures: request at 15000: 500, which no client/,
  ],
  'a broken request in a rolling upgrade': [told(502, 'drain'), /though nothing was broken/],
  'a socket that is cut in a rolling upgrade': [told(1006, 'drain'), /though nothing was broken/],
  'a socket that is cut long after a fault': [told(1006, 'kill', 120_000), /though nothing was broken/],
  'an item that is there twice': [{ doubledItems: ['s 1'] }, /^items: s 1 is in its record twice$/],
  'a process that stays': [{ left: ['process 17'] }, /^left: left behind: process 17$/],
};

t.strictSame(violations(WELL), []);
for (const [what, recorded] of Object.entries(ALLOWED))
  t.test(`${what} is as it should be`, async (t) => {
    t.strictSame(violations({ ...WELL, ...recorded }), []);
  });
for (const [what, [recorded, line]] of Object.entries(FOUND))
  t.test(`${what} is found`, async (t) => {
    const lines = violations({ ...WELL, ...recorded });
    t.equal(lines.length, 1, lines.join());
    t.match(lines[0], line);
  });
