/** Plans of sessions: what the request, the agent and the telephone number decide. */
import t from '../../../../../fixtures/tap.js';
import type { PhoneLeg } from '../../../../../../contracts/phone/phone.js';
import { DEFAULT_CONFIG } from '../../../../../../contracts/schemas/agent-config.js';
import { RawJson } from '../../../../../../contracts/text/raw-json.js';
import { takenOver } from '../../../../../../contracts/agents/plan.js';
import { planOf } from '../../../../../../gateway/dialects/platform/sessions/plan.js';

const NOW = new Date('2026-02-28T23:30:00Z');
const VERSION = { number: 1, config: DEFAULT_CONFIG, configHash: 'sha256:0', tools: [], knowledge: [] };
const LEG = { callerNumber: '+819012345678', dialedNumber: '+493012345678', direction: 'inbound' } as const;

t.test("the country of the person's number is the last to give a timezone, whoever rang (D18)", async (t) => {
  const zoneOf = (leg: PhoneLeg | undefined, wanted: object = {}, timezone = ''): string => {
    const config = { ...DEFAULT_CONFIG, conversation: { ...DEFAULT_CONFIG.conversation, timezone } };
    const request = { metadata: new RawJson('{}'), ...wanted };
    return planOf({ ...VERSION, config }, request, false, { leg, now: NOW }).timezone;
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

t.test(
  'system variables render once, alike for all agents of a call, and no request sets them (D6)',
  async (t) => {
    const prompt = {
      ...DEFAULT_CONFIG.prompt,
      first_message: 'It is {{system.today}} in {{ system.timezone }}.',
      system_prompt:
        '{{system.channel}} {{system.language}} {{system.caller_number}} {{system.dialed_number}}',
    };
    const version = { ...VERSION, config: { ...DEFAULT_CONFIG, prompt } };
    const request = {
      metadata: new RawJson('{}'),
      dynamic_variables: { channel: 'own' },
      overrides: { language: 'fr' },
    } as const;
    const plan = planOf(version, request, false, { leg: LEG, now: NOW });
    t.equal(plan.config.prompt.first_message, 'It is 2026-03-01 in Asia/Tokyo.');
    t.equal(plan.config.prompt.system_prompt, 'phone_inbound fr +819012345678 +493012345678');
    const voice = { ...DEFAULT_CONFIG.voice, speaking_language: 'de' } as const;
    const next = takenOver(plan, 'agent_2', { ...version, config: { ...version.config, voice } });
    t.equal(next?.config.prompt.system_prompt, plan.config.prompt.system_prompt, 'after a hand-over');

    const web = { ...request, overrides: { system_prompt: '[{{system.caller_number}}] {{system.channel}}' } };
    const other = planOf(version, web, false, { now: NOW });
    t.equal(other.config.prompt.system_prompt, '[] web_voice', 'in overrides');
    t.equal(other.config.prompt.first_message, 'It is 2026-02-28 in UTC.');
  },
);
