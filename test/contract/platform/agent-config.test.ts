/** The configuration of an agent: every bound in the specification's tables, and references in lists (6.3). */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { AGENTS, at, configuredAgent, nested } from '../../fixtures/platform/configured-agent.js';
import { type Json, places } from '../../fixtures/platform/platform.js';

const number = '+4930123456';
/** What people store for numbers that nobody can dial from everywhere. */
const NO_NUMBERS = [
  'extension 12',
  '+1',
  '911',
  '112',
  '030 1234567',
  '4930123456',
  '+0301234567',
  '+4930123456789012',
  'sip:desk',
  '{{desk}}',
];

const { call, id, path: CONFIG, patch } = await configuredAgent(t);

const LANGUAGES = ['en', 'ja', 'zh', 'ko', 'es', 'fr', 'de'];
const SUMMARY_LANGUAGES = [...LANGUAGES, 'pt', 'ru', 'ar'];
const name = 'a';
const named = (count: number) => Array.from({ length: count }, (_, nth) => ({ name: `a${nth}` }));

interface Leaf {
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
  /** `false`: null is refused, since a default is stated. */
  readonly nullable?: false;
}

const choice = (values: readonly string[], nullable?: false): Leaf => ({
  good: values,
  bad: ['', 'other', 5, values[0]?.toUpperCase()],
  ...(nullable === false ? { nullable } : {}),
});
const flag: Leaf = { good: [true, false], bad: ['true', 1, 0] };
const text = (max: number): Leaf => ({ good: ['', 'x'.repeat(max)], bad: ['x'.repeat(max + 1), 5, {}] });

const hundred = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`text${nth}`, 'x']));

/** The specification's tables, field by field. A `*` marks items of lists. */
const LEAVES: Readonly<Record<string, Leaf>> = {
  'prompt.system_prompt': {
    good: ['', ' bakery'.repeat(4000), '      '.repeat(16_666) + '    '],
    bad: [' bakery'.repeat(4001), 'x '.repeat(50_001), 5],
  },
  'prompt.first_message_mode': choice(['off', 'fixed', 'prompt']),
  'prompt.first_message': text(10_000),
  'prompt.first_message_prompt': text(10_000),
  'voice.voice_id': text(256),
  'voice.speaking_language': { ...choice(LANGUAGES), bad: ['pt', 'en-US', 'xx', 5] },
  'voice.languages': {
    good: [null, [], ['de'], LANGUAGES],
    bad: [['pt'], [...LANGUAGES, 'en'], 'de', [null]],
  },
  'voice.expressive': flag,
  'conversation.max_duration_seconds': { good: [60, 3600], bad: [59, 3601, 60.5, '60'] },
  'conversation.eagerness': choice(['relaxed', 'balanced', 'eager']),
  'conversation.drafts': flag,
  'conversation.noise_reduction': flag,
  'conversation.turn_detector': choice(['auto', 'tables', 'audio', 'both']),
  'conversation.interruptible': flag,
  'conversation.interruption_sensitivity': choice(['low', 'balanced', 'high']),
  'conversation.reengage_enabled': flag,
  'conversation.hangup_after_seconds': { good: [10, 3600], bad: [9, 3601, 10.5, '60', true] },
  'conversation.hangup_farewell_enabled': flag,
  'conversation.record_audio': flag,
  'conversation.outbound.amd_enabled': flag,
  'conversation.outbound.voicemail.action': choice(['hangup', 'leave_message', 'leave_prompt_message']),
  'conversation.outbound.voicemail.message': text(10_000),
  'conversation.timezone': {
    good: ['', 'Europe/Berlin'],
    bad: ['Nope/Zone', '+01:00', ' ', 'x'.repeat(65), 5],
  },
  'conversation.transfer_destinations': {
    good: [[], Array(50).fill({ phone_number: number })],
    bad: [Array(51).fill({ phone_number: number }), {}, [{}], [{ phone_number: number, extra: 1 }], [number]],
  },
  'guardrails.focus': flag,
  'guardrails.manipulation': flag,
  'tools.enabled': flag,
  'tools.tool_ids': { good: [[]], bad: [['nothing'], [5], 'x', Array(101).fill('x'), ['x'.repeat(129)]] },
  'tools.system_tools': { good: [{}, { hang_up_call: true }], bad: [{ other: true }, true, []] },
  'tools.system_tools.hang_up_call': flag,
  'tools.system_tools.send_digits': flag,
  'webhooks.post_call': {
    good: [
      [],
      [{ url: 'https://a.example/' }],
      [1, 2, 3, 4, 5].map((index) => ({ url: `https://a.example/${index}` })),
    ],
    bad: [
      [1, 2, 3, 4, 5, 6].map((index) => ({ url: `https://a.example/${index}` })),
      [{ url: 'https://a.example/' }, { url: 'https://a.example/' }],
      [{ url: 'https://a.example' }, { url: 'https://A.example/' }],
      [{}],
      ['https://a.example/'],
      'https://a.example/',
      [{ url: 'https://a.example/', has_secret: 'true' }],
    ],
  },
  'llm.tier': choice(['instant', 'medium', 'high']),
  'webhooks.conversation_init': {
    good: [{ url: 'https://a.example/' }, { url: 'https://a.example/', timeout_seconds: 1, web: true }],
    bad: [
      {},
      [],
      'https://a.example/',
      { url: '' },
      { url: 'http://10.0.0.1/' },
      { url: 'ftp://a.example/' },
    ],
  },
  'knowledge_base.enabled': flag,
  'knowledge_base.knowledge_source_ids': { good: [[]], bad: [['nothing'], [5], 'x', Array(101).fill('x')] },
  'widget.agent_name': text(120),
  'widget.greeting': text(500),
  'widget.proactive_message': text(500),
  'widget.consent_required': flag,
  'widget.consent_text': text(2000),
  'widget.transcript_enabled': flag,
  'widget.text_input_enabled': flag,
  'widget.mic_muting_enabled': flag,
  'widget.text_contents': {
    good: [{}, { start: 'Call', 'a.b-c_d': '', ['a'.repeat(64)]: 'x'.repeat(500) }, hundred(100)],
    bad: [
      hundred(101),
      { start: 5 },
      { start: null },
      { start: 'x'.repeat(501) },
      { ['a'.repeat(65)]: '' },
      { '1': '' },
      [],
      'x',
    ],
  },
  'analysis.summary': { good: [{}], bad: [{ other: 1 }, true] },
  'analysis.summary.enabled': { ...flag, nullable: false },
  'analysis.summary.prompt': text(1000),
  'analysis.summary.language': { good: SUMMARY_LANGUAGES, bad: ['it', 'EN', 5], nullable: false },
  'analysis.data_fields': {
    good: [[], named(20)],
    bad: [
      named(21),
      [{ name }, { name: 'b' }, { name }],
      [{}],
      [{ name, extra: 1 }],
      {},
      [name],
      [{ name, type: 'enum' }],
    ],
  },
  'analysis.criteria': {
    good: [[], named(10)],
    bad: [named(11), [{ name }, { name }], [{}], [{ name, type: 'text' }], {}],
  },
};

const url = 'https://a.example/';

/** Fields of items in lists: the list, the item's other required fields, and the field's good and bad values. */
const ITEMS: readonly [list: string, rest: Json, field: string, leaf: Leaf][] = [
  ['conversation.transfer_destinations', { phone_number: number }, 'type', { good: ['phone'], bad: ['sip', null] }],
  ['conversation.transfer_destinations', { phone_number: number }, 'label', { ...text(500), bad: ['x'.repeat(501), 5, null] }],
  ['conversation.transfer_destinations', {}, 'phone_number', { good: ['+4930123', '+493012345678901', '+49 (30) 12-34.567', 'sip:desk@pbx.example'], bad: ['', '1'.repeat(129), null, 5, ...NO_NUMBERS] }],
  ['conversation.transfer_destinations', { phone_number: number }, 'mode', { good: ['cold', 'warm'], bad: ['hot', null] }],
  ['conversation.transfer_destinations', { phone_number: number }, 'warm_connect', { good: ['confirm', 'direct'], bad: ['x', null] }],
  ['webhooks.post_call', {}, 'url', { good: [url, url + 'x'.repeat(4000 - url.length)], bad: ['', url + 'x'.repeat(4001 - url.length), 5, null] }],
  ['analysis.data_fields', {}, 'name', { good: ['a', 'a_1', `a${'b'.repeat(63)}`], bad: ['', 'A', '1a', '_a', 'a-b', `a${'b'.repeat(64)}`, 'a\n', null] }],
  ['analysis.data_fields', { name, enum_options: ['a', 'b'] }, 'type', { good: ['boolean', 'text', 'number', 'enum'], bad: ['date', null] }],
  ['analysis.data_fields', { name }, 'description', { good: ['', 'x'.repeat(500)], bad: ['x'.repeat(501), null] }],
  ['analysis.data_fields', { name }, 'enum_options', { good: [null, ['a', 'b'], Array(20).fill('x'.repeat(500))], bad: [['a'], [], Array(21).fill('x'), ['a', 5], ['a', 'x'.repeat(501)], 'a'] }],
  ['analysis.criteria', {}, 'name', { good: ['a', `a${'b'.repeat(63)}`], bad: ['A', `a${'b'.repeat(64)}`, null] }],
  ['analysis.criteria', { name }, 'description', { good: ['', 'x'.repeat(500)], bad: ['x'.repeat(501), null] }],
]; // oxfmt-ignore

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 50) ?? 'undefined';

t.test('an agent begins with the platform’s defaults', async (t) => {
  const {
    config_hash: hash,
    updated_at: updated,
    agent_id: agent,
    ...sections
  } = (await call('GET', CONFIG)).body;
  t.equal(agent, id);
  t.match(hash, /^sha256:[0-9a-f]{64}$/);
  t.ok(Date.parse(updated as string) > 0);
  t.strictSame(sections, {
    prompt: {
      system_prompt: '',
      first_message_mode: 'prompt',
      first_message: 'Hi! Thanks for calling — how can I help you today?',
      first_message_prompt: 'Greet the caller and ask what you can help with.',
    },
    voice: { voice_id: 'default', speaking_language: 'en', languages: null, expressive: false },
    conversation: {
      max_duration_seconds: 1800,
      eagerness: 'balanced',
      drafts: true,
      turn_detector: 'auto',
      noise_reduction: false,
      interruptible: true,
      interruption_sensitivity: 'balanced',
      reengage_enabled: false,
      hangup_after_seconds: null,
      hangup_farewell_enabled: false,
      record_audio: false,
      timezone: '',
      recovery_mode: 'auto',
      recovery_message: '',
      transfer_destinations: [],
      outbound: { amd_enabled: false, voicemail: null },
    },
    guardrails: { focus: false, manipulation: false },
    tools: {
      enabled: true,
      tool_ids: [],
      filler_mode: 'auto',
      filler_message: '',
      transfer_agents: [],
      system_tools: { hang_up_call: false, send_digits: false },
    },
    webhooks: { post_call: [], conversation_init: null },
    llm: { tier: 'medium', custom: null },
    knowledge_base: { enabled: false, knowledge_source_ids: [] },
    widget: {
      ...{ agent_name: null, greeting: null, proactive_message: null },
      ...{ consent_required: false, consent_text: null },
      ...{ transcript_enabled: true, text_input_enabled: true, mic_muting_enabled: true },
      text_contents: {},
    },
    analysis: { summary: { enabled: true, prompt: null, language: 'en' }, data_fields: [], criteria: [] },
  });
});

t.test('every leaf of the tables, on both sides of its bounds', async (t) => {
  for (const [path, { good, bad, nullable }] of Object.entries(LEAVES)) {
    for (const value of good) {
      const answer = await patch(nested(path, value));
      t.equal(answer.status, 200, `${path} takes ${shown(value)}`);
      if (typeof value !== 'object') t.strictSame(at(answer.body, path), value, path);
    }
    for (const value of bad) {
      const answer = await patch(nested(path, value));
      t.equal(answer.status, 422, `${path} refuses ${shown(value)}`);
      t.ok(
        places(answer).every((place) => place.startsWith(path)),
        `${path}: ${places(answer).join(' ').slice(0, 100)}`,
      );
    }
    const nothing = await patch(nested(path, null));
    t.equal(nothing.status, nullable === false ? 422 : 200, `${path}: null`);
  }
});

t.test(
  'every field of the things in lists, on both sides of its bounds (decision 20: transfer destinations)',
  async (t) => {
    for (const [list, rest, field, { good, bad }] of ITEMS) {
      for (const value of good) {
        const answer = await patch(nested(list, [{ ...rest, [field]: value }]));
        t.equal(answer.status, 200, `${list}.${field} takes ${shown(value)}`);
        t.strictSame((at(answer.body, list) as Json[])[0]?.[field], value);
      }
      for (const value of bad) {
        const answer = await patch(nested(list, [{ ...rest, [field]: value }]));
        t.equal(answer.status, 422, `${list}.${field} refuses ${shown(value)}`);
        t.match(places(answer)[0], new RegExp(`^${list}\\.0\\.${field}`));
      }
    }
  },
);

t.test('no section and no object takes unknown fields', async (t) => {
  const sections = [
    'prompt',
    'voice',
    'conversation',
    'guardrails',
    'tools',
    'webhooks',
    'knowledge_base',
    'widget',
    'analysis',
  ];
  for (const section of sections) {
    t.strictSame(places(await patch({ [section]: { colour: 1 } })), [`${section}.colour`]);
    t.equal((await patch({ [section]: [] })).status, 422);
    t.equal((await patch({ [section]: null })).status, 200, `${section}: null`);
  }
  t.strictSame(places(await patch({ colour: 1, hash: 'x' })), ['colour', 'hash']);
});

t.test('null takes a leaf back to the default, lists too', async (t) => {
  await patch({
    conversation: {
      timezone: 'Europe/Berlin',
      max_duration_seconds: 60,
      transfer_destinations: [{ phone_number: '+493012345678' }],
    },
    prompt: { first_message: 'Hello' },
  });
  const { body } = await patch({
    conversation: { timezone: null, max_duration_seconds: null, transfer_destinations: null },
    prompt: { first_message: null },
  });
  exactly(t, body, {
    conversation: { timezone: '', max_duration_seconds: 1800, transfer_destinations: [] },
    prompt: { first_message: /^Hi! Thanks for calling/ },
  });
});

t.test('the words of a widget are replaced as a whole; null takes each field of it back', async (t) => {
  await patch({ widget: { greeting: 'Hello', text_contents: { start: 'Call', end: 'Stop' } } });
  const { body } = await patch({ widget: { text_contents: { start: 'Ring' } } });
  exactly(t, body, { widget: { greeting: 'Hello' } });
  t.strictSame(at(body, 'widget.text_contents'), { start: 'Ring' });
  const cleared = await patch({ widget: { greeting: null, text_contents: null } });
  exactly(t, cleared.body, { widget: { greeting: null } });
  t.strictSame(at(cleared.body, 'widget.text_contents'), {});
});

t.test('prompts as long as they may be, in tokens and characters (decision 19)', async (t) => {
  const letters = Array.from({ length: 100_000 }, (_, index) =>
    String.fromCharCode(97 + ((index * 7919) % 26)),
  ).join('');
  t.strictSame(
    places(await patch({ prompt: { system_prompt: letters } })),
    ['prompt.system_prompt'],
    'too many tokens',
  );
  const creation = await call('POST', AGENTS, {
    body: { name: 'A', config: { prompt: { system_prompt: letters } } },
  });
  t.strictSame([creation.status, places(creation)], [422, ['config.prompt.system_prompt']]);
  t.equal((await patch({ prompt: { system_prompt: 'é'.repeat(4000) } })).status, 200);
});

t.test('unknown system variables are refused with those that there are; known ones are stored', async (t) => {
  const fine = 'Today is {{system.today}}, {{ system.channel }}, {{own}}.';
  for (const name of ['system_prompt', 'first_message', 'first_message_prompt']) {
    const refused = await patch({ prompt: { [name]: '{{system.foo}}' } });
    t.strictSame([refused.status, places(refused)], [422, [`prompt.${name}`]]);
    t.match(refused.body['message'], /channel, timezone, today, language, caller_number, dialed_number$/);
    t.equal((await patch({ prompt: { [name]: fine } })).status, 200, name);
  }
  const creation = await call('POST', AGENTS, {
    body: { name: 'A', config: { prompt: { first_message: '{{system.now}}' } } },
  });
  t.strictSame([creation.status, places(creation)], [422, ['config.prompt.first_message']]);
});
