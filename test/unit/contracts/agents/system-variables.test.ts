/** System variables: their values in each kind of call, and names that cannot be saved. */
import t from '../../../fixtures/tap.js';
import { exactly } from '../../../fixtures/exactly.js';
import { systemVariablesOf, unknownSystemName } from '../../../../contracts/agents/system-variables.js';

const now = new Date('2026-12-31T23:30:00Z');
const web = { leg: undefined, timezone: 'UTC', language: 'ja', now };
const leg = { callerNumber: '+4930123456', dialedNumber: '+4989123456', direction: 'outbound' } as const;

t.test('each kind of call has its values', async (t) => {
  t.strictSame(systemVariablesOf(web), {
    'system.channel': 'web_voice',
    'system.timezone': 'UTC',
    'system.today': '2026-12-31',
    'system.language': 'ja',
    'system.caller_number': '',
    'system.dialed_number': '',
  });
  exactly(t, systemVariablesOf({ ...web, leg, timezone: 'Asia/Tokyo' }), {
    'system.channel': 'phone_outbound',
    'system.today': '2027-01-01',
    'system.caller_number': '+4930123456',
    'system.dialed_number': '+4989123456',
  });
});

t.test('a number that is withheld or not E.164 is empty', async (t) => {
  for (const callerNumber of [null, 'anonymous', '4930123456', '+0301234567', 'sip:desk@example.com']) {
    const values = systemVariablesOf({ ...web, leg: { ...leg, callerNumber } });
    t.equal(values['system.caller_number'], '', String(callerNumber));
  }
});

t.test('an unknown name cannot be saved, unless it was there before', async (t) => {
  const why =
    'uses {{system.foo}}; system has channel, timezone, today, language, caller_number, dialed_number';
  t.equal(unknownSystemName('{{system.today}} {{ system.foo }}'), why);
  t.equal(unknownSystemName('{{system.foo}}', 'Before: {{system.foo}}'), undefined);
  t.match(unknownSystemName('{{system.}}'), /^uses {{system.}}/);
  for (const text of [
    '',
    '{{system.channel}}',
    '{{ system.today }}',
    'system.foo',
    '{{system}}',
    '{{my.foo}}',
  ])
    t.equal(unknownSystemName(text), undefined, text);
});
