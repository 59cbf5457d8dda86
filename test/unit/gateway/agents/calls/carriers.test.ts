/** What becomes of a session whose call is closed, by carrier and cause (gateway/agents/calls/carriers.ts). */
import t from '../../../../fixtures/tap.js';
import { type CarrierName, CARRIERS, goesOn } from '../../../../../gateway/agents/calls/carriers.js';
import { CLOSED_BY, type ClosedBy } from '../../../../../gateway/agents/conversations/closing.js';

const CAUSES = Object.keys(CLOSED_BY) as ClosedBy[];
const NAMES = Object.keys(CARRIERS) as CarrierName[];

/** For each cause, in the order of the carriers; `ends` for every other one. A user who was just connected is not settled. */
const TABLE: Readonly<Partial<Record<ClosedBy, string>>> = {
  mediaLoss: 'released  released  ends      ends      ends      released',
  connecting: 'ends     ends      released  ends      ends      ends    ',
  lost: '     kept      kept      kept      kept      kept      kept    ',
  unclaimed: 'kept      released  ends      ends      ends      kept    ',
  parked: '   ends      ends      ends      ends      released  ends    ',
  shutdown: ' ends      ends      ends      ends      released  ends    ',
};

t.test('every carrier answers every cause on purpose', (t) => {
  t.strictSame(NAMES, ['embedded', 'livekit', 'phone', 'socket', 'chat', 'test']);
  for (const cause of CAUSES) {
    const expected = TABLE[cause]?.trim().split(/\s+/) ?? NAMES.map(() => 'ends');
    const found = NAMES.map((name) => goesOn({ name, isSettled: () => true }, cause) ?? 'ends');
    t.strictSame(found, expected, cause);
  }
  t.end();
});

t.test('a call that loses its media soon after its user came ends; what ends by itself ends', (t) => {
  for (const name of NAMES) {
    t.equal(goesOn({ name, isSettled: () => false }, 'mediaLoss'), undefined, name);
    t.equal(goesOn({ name, isSettled: () => true }, undefined), undefined, name);
  }
  t.end();
});
