/** Formats of a zone are made once, and a name that is none is refused each time. */
import t from '../../../fixtures/tap.js';
import { throwsExactly } from '../../../fixtures/exactly.js';
import { zoneFormats } from '../../../../contracts/time/zone-formats.js';

const NOON = new Date('2026-11-30T12:00:00Z');

t.test('a zone has its own time, and one format', (t) => {
  const formats = zoneFormats('en-GB', { timeStyle: 'short' });
  for (const [zone, time] of [
    ['UTC', '12:00'],
    ['Asia/Tokyo', '21:00'],
    ['UTC', '12:00'],
  ] as const)
    t.equal(formats(zone).format(NOON), time);
  t.equal(formats('Asia/Tokyo'), formats('Asia/Tokyo'));
  for (let attempt = 0; attempt < 2; attempt += 1)
    throwsExactly(t, () => formats('Asia/Nowhere'), {
      name: 'RangeError',
      message: 'Invalid time zone specified: Asia/Nowhere',
    });
  t.end();
});
