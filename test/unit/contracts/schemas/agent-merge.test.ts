/** Configurations without a database: the result of a change, and equal content (decisions 14, 15). */
import t from '../../../fixtures/tap.js';
import {
  type AgentConfig,
  ConfigChanges,
  DEFAULT_CONFIG,
  initialConfig,
} from '../../../../contracts/schemas/agent-config.js';
import { configProblems } from '../../../../gateway/dialects/platform/config-check.js';
import { completeConfig, configHash, reviseConfig } from '../../../../contracts/schemas/agent-merge.js';
import { checker } from '../../../../contracts/schemas/check.js';

type Outbound = Exclude<NonNullable<ConfigChanges['conversation']>['outbound'], undefined>;

const revise = (changes: ConfigChanges, before: AgentConfig = DEFAULT_CONFIG, defaults?: AgentConfig) =>
  reviseConfig(before, changes, defaults);

/** A configuration that differs from the defaults everywhere. */
const FULL = revise({
  prompt: { system_prompt: 's', first_message_mode: 'fixed', first_message: 'f', first_message_prompt: 'p' },
  voice: { voice_id: 'v', speaking_language: 'de' },
  conversation: {
    max_duration_seconds: 60,
    eagerness: 'eager',
    interruptible: false,
    interruption_sensitivity: 'low',
    reengage_enabled: true,
    record_audio: false,
    timezone: 'Europe/Berlin',
    transfer_destinations: [{ phone_number: '+49' }],
    outbound: { amd_enabled: true, voicemail: { action: 'leave_message', message: 'm' } },
  },
  tools: {
    enabled: false,
    tool_ids: ['a', 'b', 'a'],
    system_tools: { hang_up_call: true, send_digits: false },
  },
  webhooks: { post_call: [{ url: 'https://a.example/', secret: 's' }, { url: 'https://b.example/' }] },
  knowledge_base: { enabled: true, knowledge_source_ids: ['k'] },
  analysis: {
    summary: { enabled: false, prompt: 'sum', language: 'ru' },
    data_fields: [{ name: 'size' }],
    criteria: [{ name: 'polite' }],
  },
}).config;

t.test(
  'an empty change changes nothing; null takes any leaf back to its default, and keeps sections',
  async (t) => {
    t.strictSame(revise({}, FULL), { config: FULL, secrets: [] });
    const sections = [
      'prompt',
      'voice',
      'conversation',
      'tools',
      'webhooks',
      'knowledge_base',
      'analysis',
    ] as const;
    for (const section of sections) {
      t.strictSame(revise({ [section]: null }, FULL).config, FULL, `${section}: null`);
      t.strictSame(revise({ [section]: {} }, FULL).config, FULL, `${section}: {}`);
      for (const leaf of Object.keys(FULL[section])) {
        const change = { [section]: { [leaf]: null } } as ConfigChanges;
        const usual = (DEFAULT_CONFIG[section] as Record<string, unknown>)[leaf];
        const kept = leaf === 'system_tools' || leaf === 'summary';
        const expected = kept ? FULL : { ...FULL, [section]: { ...FULL[section], [leaf]: usual } };
        t.strictSame(revise(change, FULL).config, expected, `${section}.${leaf}: null`);
      }
    }
    const { system_tools: tools } = revise({ tools: { system_tools: { hang_up_call: null } } }, FULL).config
      .tools;
    t.strictSame(tools, { hang_up_call: false, send_digits: false });
    const recording = revise({ conversation: { record_audio: null } }, FULL, initialConfig(true)).config;
    t.ok(recording.conversation.record_audio, 'the default of this installation');
  },
);

t.test('a change may leave out any field or say null, and has no other fields', async (t) => {
  const check = checker(ConfigChanges);
  const fits = (section: string, value: unknown): boolean => check({ [section]: value }).ok;
  for (const [section, fields] of Object.entries(FULL)) {
    for (const value of [null, {}]) t.ok(fits(section, value), section);
    for (const field of Object.keys(fields)) t.ok(fits(section, { [field]: null }), `${section}.${field}`);
    t.notOk(fits(section, { unknown: null }), section);
  }
  t.ok(fits('tools', { system_tools: { hang_up_call: null } }));
});

t.test('an item of a list may leave out all but what names it, and nothing in it is null', async (t) => {
  const check = checker(ConfigChanges);
  for (const [section, list, names, other] of [
    ['conversation', 'transfer_destinations', { phone_number: '+491' }, 'label'],
    ['tools', 'transfer_agents', { agent_id: 'agent_1' }, 'description'],
    ['analysis', 'data_fields', { name: 'size' }, 'description'],
    ['analysis', 'criteria', { name: 'polite' }, 'description'],
  ] as const) {
    const fits = (item: object): boolean => check({ [section]: { [list]: [item] } }).ok;
    const items = [names, { ...names, [other]: '' }, {}, { ...names, [other]: null }, { ...names, x: 1 }];
    t.strictSame(items.map(fits), [true, true, false, false, false], list);
  }
});

t.test('a new agent records where the operator wants it, and has the defaults of all else', async (t) => {
  const { conversation, ...others } = DEFAULT_CONFIG;
  for (const record_audio of [true, false])
    t.strictSame(initialConfig(record_audio), { ...others, conversation: { ...conversation, record_audio } });
});

t.test('what placed calls do about machines: parts are completed, null takes it back', async (t) => {
  const of = (outbound: Outbound, from = DEFAULT_CONFIG) =>
    revise({ conversation: { outbound } }, from).config.conversation.outbound;
  const off = { amd_enabled: false, voicemail: null };
  t.strictSame(of({}), off);
  t.strictSame(of({ amd_enabled: true }), { amd_enabled: true, voicemail: null });
  t.strictSame(of({ voicemail: {} }), { ...off, voicemail: { action: 'hangup', message: '' } });
  t.strictSame(of({ voicemail: { message: 'x' } }, FULL).voicemail, {
    action: 'leave_message',
    message: 'x',
  });
  t.strictSame(of({ voicemail: { action: null } }, FULL).voicemail, { action: 'hangup', message: 'm' });
  t.strictSame(of({ voicemail: null }, FULL), { amd_enabled: true, voicemail: null });
  t.strictSame(of({ amd_enabled: null }, FULL), { ...FULL.conversation.outbound, amd_enabled: false });
  t.strictSame(of(null, FULL), off);
  const { outbound: _, ...older } = FULL.conversation;
  t.strictSame(completeConfig({ ...FULL, conversation: older }).conversation.outbound, off, 'of before');
  const check = checker(ConfigChanges);
  const fits = (outbound: unknown): boolean => check({ conversation: { outbound } }).ok;
  for (const wrong of [
    { x: 1 },
    { amd_enabled: 1 },
    { voicemail: { x: 1 } },
    { voicemail: { action: 'hang_up' } },
  ])
    t.notOk(fits(wrong), JSON.stringify(wrong));
  t.strictSame(
    [10_000, 10_001].map((length) => fits({ voicemail: { message: 'x'.repeat(length) } })),
    [true, false],
  );
});

t.test('null clears what can be cleared', async (t) => {
  t.equal(FULL.analysis.summary.prompt, 'sum');
  for (const post_call of [null, []])
    t.strictSame(revise({ webhooks: { post_call } }, FULL).config.webhooks.post_call, []);
  const { summary } = revise({ analysis: { summary: { prompt: null } } }, FULL).config.analysis;
  t.strictSame(summary, { enabled: false, prompt: null, language: 'ru' });
});

t.test('objects are merged deeply, lists are replaced and completed, no default comes back', async (t) => {
  t.strictSame(revise({ prompt: { first_message: 'g' } }, FULL).config.prompt, {
    ...FULL.prompt,
    first_message: 'g',
  });
  const { analysis } = revise({ analysis: { summary: { enabled: true }, criteria: [] } }, FULL).config;
  t.strictSame(analysis, {
    ...FULL.analysis,
    summary: { ...FULL.analysis.summary, enabled: true },
    criteria: [],
  });
  t.strictSame(FULL.conversation.transfer_destinations, [
    { type: 'phone', label: '', mode: 'cold', warm_connect: 'confirm', phone_number: '+49' },
  ]);
  t.strictSame(FULL.analysis.data_fields, [
    { type: 'text', description: '', enum_options: null, name: 'size' },
  ]);
  t.strictSame(FULL.analysis.criteria, [{ description: '', name: 'polite' }]);
  t.strictSame(FULL.tools.tool_ids, ['a', 'b'], 'an id counts once');
});

t.test('a webhook’s secret is kept, removed or rotated by its URL', async (t) => {
  const [a, b] = ['https://a.example/', 'https://b.example/'];
  type Hooks = NonNullable<NonNullable<ConfigChanges['webhooks']>['post_call']>;
  const cases: [hooks: Hooks, has: boolean[], secrets: object[]][] = [
    [[{ url: a }, { url: b }], [true, false], []],
    [[{ url: b }, { url: a }], [false, true], []],
    [[{ url: a, secret: null }], [false], [{ url: a, secret: null }]],
    [[{ url: a, secret: '' }], [false], [{ url: a, secret: null }]],
    [[{ url: a, secret: 'new' }], [true], [{ url: a, secret: 'new' }]],
    [[{ url: 'https://c.example/' }], [false], []],
    [
      [
        { url: a, has_secret: true },
        { url: b, has_secret: false },
      ],
      [true, false],
      [{ url: b, secret: null }],
    ],
    [[{ url: a, secret: null, has_secret: true }], [true], []],
    [[{ url: b, secret: null, has_secret: true }], [false], []],
    [[{ url: a, secret: null, has_secret: false }], [false], [{ url: a, secret: null }]],
    [[{ url: a, has_secret: false }], [false], [{ url: a, secret: null }]],
    [[{ url: a, secret: 'new', has_secret: true }], [true], [{ url: a, secret: 'new' }]],
    [[{ url: a, secret: 'new', has_secret: false }], [true], [{ url: a, secret: 'new' }]],
    [[{ url: a, secret: '', has_secret: true }], [false], [{ url: a, secret: null }]],
  ];
  for (const [hooks, has, secrets] of cases) {
    const revision = revise({ webhooks: { post_call: hooks } }, FULL);
    t.strictSame(
      revision.config.webhooks.post_call,
      hooks.map(({ url }, index) => ({ url, has_secret: has[index] })),
    );
    t.strictSame(revision.secrets, secrets);
  }
});

t.test('a stored configuration is read with the defaults of fields that it lacks', async (t) => {
  const { eagerness: _, ...older } = FULL.conversation;
  t.strictSame(completeConfig({ ...FULL, conversation: older }).conversation, {
    ...FULL.conversation,
    eagerness: 'balanced',
  });
  t.strictSame(completeConfig(FULL), FULL);
  t.strictSame(completeConfig({}), DEFAULT_CONFIG);
  const { criteria } = completeConfig({ ...FULL, analysis: { criteria: [{ name: 'polite' }] } }).analysis;
  t.strictSame(criteria, [{ description: '', name: 'polite' }], 'in the items of lists, too');
});

t.test('what a newer release has stored is kept, as after a rollback', async (t) => {
  const newer = { ...FULL, later: { section: { leaf: 1 }, list: [{ a: 1 }] } };
  t.strictSame(completeConfig(newer), newer);
  t.strictSame(reviseConfig(newer, { prompt: { first_message: 'g' } }).config, {
    ...newer,
    prompt: { ...FULL.prompt, first_message: 'g' },
  });
});

t.test('the hash depends on the content, and on nothing else', async (t) => {
  const content = {
    config: FULL,
    tools: [{ id: 'a', digest: 'x' }],
    knowledge: [{ sourceId: 'k', revision: 1 }],
  };
  const hash = configHash(content);
  t.match(hash, /^sha256:[0-9a-f]{64}$/);
  const shuffled = {
    knowledge: [{ revision: 1, sourceId: 'k' }],
    tools: [{ digest: 'x', id: 'a' }],
    config: Object.fromEntries(Object.entries(FULL).reverse()) as AgentConfig,
  };
  t.equal(configHash(shuffled), hash, 'the order of members says nothing');
  const others = [
    { ...content, knowledge: [{ sourceId: 'k', revision: 2 }] },
    { ...content, tools: [{ id: 'a', digest: 'y' }] },
    { ...content, tools: [] },
    { ...content, config: revise({ voice: { voice_id: 'w' } }, FULL).config },
    { ...content, config: revise({ tools: { tool_ids: ['b', 'a'] } }, FULL).config },
  ];
  const hashes = new Set([hash, ...others.map(configHash)]);
  t.equal(hashes.size, others.length + 1);
});

t.test(
  'destinations are numbers, SIP addresses, or short ones that are allowed; stored ones may come back',
  async (t) => {
    const parts = {
      agents: { missing: async () => [] },
      outbound: { checkUrl: () => undefined },
      tokens: { exceedsTokens: async () => false },
      shortNumbers: new Set(['112']),
    } as unknown as Parameters<typeof configProblems>[2];
    const to = (...numbers: string[]) => ({
      conversation: { transfer_destinations: numbers.map((phone_number) => ({ phone_number })) },
    });
    const wrong = async (numbers: readonly string[], stored?: Parameters<typeof configProblems>[3]) =>
      (await configProblems(to(...numbers), 'w', parts, stored)).map(({ loc }) => loc.at(-2));
    t.strictSame(await wrong(['+49 30 123456', '112', 'sip:a@b.example']), []);
    t.strictSame(await wrong(['+4930123456', '911', 'extension 12', '+1']), [1, 2, 3]);
    const old = completeConfig({
      conversation: { transfer_destinations: [{ phone_number: 'extension 12' }] },
    });
    t.strictSame(await wrong(['extension 12', '911'], old), [1]);
  },
);
