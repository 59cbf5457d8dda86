/** Timezones of telephone numbers. */
import t from '../../../fixtures/tap.js';
import { ZONES_OF_NUMBERS, zoneOfNumber } from '../../../../contracts/phone/number-zones.js';
import { isTimezone } from '../../../../contracts/time/timezones.js';

t.test('a number has the timezone of its country if that has one, and no other has any (D18)', async (t) => {
  const cases: [string | null, string | undefined][] = [
    ['+819012345678', 'Asia/Tokyo'],
    ['+493012345678', 'Europe/Berlin'],
    ['+33123456789', 'Europe/Paris'],
    ['+35312345678', 'Europe/Dublin'],
    ['+18765550123', 'America/Jamaica'],
    ...['+14155550123', '+14165550123', '+61212345678', '+74951234567', '+5511987654321', '+34912345678'].map(
      (number): [string, undefined] => [number, undefined],
    ),
    ['+88312345678', undefined],
    ['+999123', undefined],
    ['819012345678', undefined],
    ['sip:+819012345678@pbx.example', undefined],
    ['', undefined],
    [null, undefined],
  ];
  for (const [number, zone] of cases) t.equal(zoneOfNumber(number), zone, String(number));
});

t.test('every zone of the table is one that the runtime knows', async (t) => {
  for (const zone of ZONES_OF_NUMBERS) t.ok(isTimezone(zone), zone);
});
