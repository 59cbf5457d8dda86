/** Names of timezones. */
import t from '../../../fixtures/tap.js';
import { isTimezone } from '../../../../contracts/time/timezones.js';

t.test('timezones are names of the IANA', async (t) => {
  for (const name of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'europe/berlin'])
    t.ok(isTimezone(name), name); // oxfmt-ignore
  for (const name of ['', '+01:00', '-05:00', 'Mars/Olympus', 'Europe/', '../etc/passwd', 'UTC+1', ' UTC'])
    t.notOk(isTimezone(name), name); // oxfmt-ignore
});
