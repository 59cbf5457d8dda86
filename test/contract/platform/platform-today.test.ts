/** Strict readers of the described platform of today find every member that it promises, and a configuration of its shape is taken. */
import t from '../../fixtures/tap.js';
import { checker } from '../../../contracts/schemas/check.js';
import { sharedPlatform } from '../../fixtures/platform/platform.js';
import { READS } from '../../fixtures/platform/platform-today.js';

const platform = await sharedPlatform(t);
const { call } = platform;

/** A configuration as it is read there, in all sections of today. */
const SAMPLE = {
  prompt: {
    system_prompt: 'You are a bakery. Today is {{system.today}}.',
    first_message_mode: 'fixed',
    first_message: 'Hi {{name}}!',
    first_message_prompt: 'Greet the caller.',
  },
  voice: { voice_id: 'default', speaking_language: 'en', expressive: false },
  conversation: {
    max_duration_seconds: 1800,
    eagerness: 'balanced',
    interruptible: true,
    interruption_sensitivity: 'balanced',
    reengage_enabled: false,
    hangup_after_seconds: 60,
    hangup_farewell_enabled: true,
    record_audio: false,
    timezone: 'Europe/Berlin',
    transfer_destinations: [],
    outbound: { amd_enabled: true, voicemail: { action: 'leave_message', message: 'Hello {{name}}.' } },
  },
  guardrails: { focus: true, manipulation: true },
  llm: { tier: 'high', custom: null },
  tools: { enabled: true, tool_ids: [], system_tools: { hang_up_call: true } },
  webhooks: {
    post_call: [{ url: 'https://hooks.example.com/calls', secret: 'shh' }],
    conversation_init: { url: 'https://hooks.example.com/init', secret: 'shh', timeout_seconds: 3 },
  },
  knowledge_base: { enabled: true, knowledge_source_ids: [] },
  analysis: { summary: { enabled: true, prompt: null, language: 'en' }, data_fields: [], criteria: [] },
};

const agent = await platform.agent();
const [tool, source] = [await platform.tool(), await platform.source()];
const config = await call('PATCH', `/v1/agent/agents/${agent}/config`, { body: SAMPLE });
await call('POST', `/v1/agent/agents/${agent}/publish`);
const made = await call('POST', '/v1/agent/sessions', {
  body: { agent_id: agent, dynamic_variables: { name: 'Ada' }, metadata: { order: 7 } },
});
await call('POST', '/v1/agent/phone-numbers', {
  body: {
    ...{ provider: 'twilio', phone_number: '+4930123456', agent_id: agent },
    credentials: { auth_token: '0123456789abcdef0123456789abcdef' },
  },
});
const IDS = { agent, tool, source, session: String(made.body['session_id']) };

for (const [place, schema] of Object.entries(READS))
  t.test(`GET ${place}`, async (t) => {
    const path = place.replace(/\{(\w+)\}/g, (_, name: keyof typeof IDS) => IDS[name]);
    const { status, body } = await call('GET', path);
    t.equal(status, 200);
    const checked = checker(schema)(body);
    t.strictSame('problems' in checked ? checked.problems : [], []);
  });

t.test('a configuration of its shape is taken, and what is read of it is taken again', async (t) => {
  t.equal(config.status, 200, config.text);
  const path = `/v1/agent/agents/${agent}/config`;
  const read = (await call('GET', path)).body;
  t.equal((await call('PATCH', path, { body: read })).status, 200);
  const { updated_at: _, ...after } = (await call('GET', path)).body;
  const { updated_at: __, ...before } = read;
  t.strictSame(after, before);
});

t.test('a list has rows to be read', async (t) => {
  for (const [place, plural] of [
    ['agents', 'agents'],
    ['tools', 'tools'],
    ['knowledge-sources', 'knowledge_sources'],
    ['sessions?status=pending', 'sessions'],
    ['phone-numbers', 'phone_numbers'],
  ] as const) {
    const { body } = await call('GET', `/v1/agent/${place}`);
    t.ok((body[plural] as unknown[]).length > 0, place);
  }
});
