/** Plans of sessions: what the request, the agent and the telephone number decide. */
import t from '../../../../../fixtures/tap.js';
import type { PhoneLeg } from '../../../../../../contracts/phone/phone.js';
import { DEFAULT_CONFIG } from '../../../../../../contracts/schemas/agent-config.js';
import { RawJson } from '../../../../../../contracts/text/raw-json.js';
import { planOf } from '../../../../../../gateway/dialects/platform/sessions/plan.js';

const VERSION = { number: 1, config: DEFAULT_CONFIG, configHash: 'sha256:0', tools: [], knowledge: [] };
const LEG = { callerNumber: '+819012345678', dialedNumber: '+493012345678', direction: 'inbound' } as const;

t.test("the country of the person's number is the last to give a timezone, whoever rang (D18)", async (t) => {
  const zoneOf = (leg: PhoneLeg | undefined, wanted: object = {}, timezone = ''): string => {
    const config = { ...DEFAULT_CONFIG, conversation: { ...DEFAULT_CONFIG.conversation, timezone } };
    const request = { metadata: new RawJson('{}'), ...wanted };
    return planOf({ ...VERSION, config }, request, false, { leg }).timezone;
  };
  t.equal(zoneOf(LEG), 'Asia/Tokyo');
  t.equal(zoneOf({ ...LEG, direction: 'outbound' }), 'Asia/Tokyo', 'of the number that was called');
  t.equal(zoneOf(LEG, {}, 'Europe/Rome'), 'Europe/Rome');
  t.equal(zoneOf(LEG, { timezone: 'America/Lima' }, 'Europe/Rome'), 'America/Lima');
  t.equal(zoneOf(LEG, { client_timezone: 'America/Lima' }), 'America/Lima');
  t.equal(zoneOf({ ...LEG, callerNumber: '+14155550123' }), 'UTC', 'a country with several zones');
  t.equal(zoneOf({ ...LEG, callerNumber: null }), 'UTC', 'a withheld number');
  t.equal(zoneOf(undefined), 'UTC');
});
