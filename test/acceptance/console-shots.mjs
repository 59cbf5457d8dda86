/**
 * Pictures of the console as users see it, of a real gateway with its own engines, an agent and a call that was held:
 *
 *   node test/acceptance/console-shots.mjs FOLDER              each view, in both colours and at three widths
 *   node test/acceptance/console-shots.mjs FOLDER 390-dark …   only so wide and in these colours
 *   node test/acceptance/console-shots.mjs --readme            those of README.md and docs/console.md, into docs/images
 *
 * It needs Debian's chromium, and what `npm test` has built.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { client, makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { DEFAULTS, MEDIA, startGateway } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';
import { startBrowser } from './browser.mjs';
import { signIn } from './console.mjs';

const IMAGES = fileURLToPath(new URL('../../docs/images', import.meta.url));
const WIDTHS = [390, 1024, 1440];
const HEIGHT = 900;
/** A scenario by voice takes as long as a call. */
const PLAYED_MS = 180_000;
const README_SIZE = { width: 1200, height: 760 };
const LOOKS = WIDTHS.flatMap((width) => [`${width}-light`, `${width}-dark`]);

const PROMPT = `You work at a lamp shop. The shop opens at nine on weekdays and at ten on Saturdays.
A lamp can be returned within thirty days. Orders leave on the next working day.`;

async function seed({ base, authorization }) {
  const call = client(base);
  const config = {
    prompt: {
      system_prompt: PROMPT,
      first_message_mode: 'fixed',
      first_message: 'Hello, this is the lamp shop. How can I help you?',
    },
    conversation: { record_audio: true },
  };
  const { tool_id: tool } = (
    await call('tools', {
      body: {
        name: 'Look up an order',
        description: 'Tells where an order is.',
        tool_type: 'webhook',
        url: 'https://shop.example.com/orders/{{order_id}}',
      },
    })
  ).body;
  const source = new FormData();
  source.set('name', 'Returns');
  source.set('source', new File(['# Returns\n\nLamps can be returned within thirty days.'], 'returns.md'));
  const knowledge = `${base}/v1/agent/knowledge-sources`;
  const kept = await fetch(knowledge, { method: 'POST', headers: authorization, body: source });
  const { knowledge_source_id: text } = await kept.json();
  const agent = await makeAgent(call, { name: 'Lamp shop', config });
  const scenario = {
    agent_id: agent,
    name: 'Asks when the shop opens',
    user: { lines: ['When does the shop open on weekdays?', 'Thank you, goodbye.'] },
    checks: [
      { type: 'contains', text: 'nine' },
      { type: 'not_matches', pattern: '(sorry|apolog)' },
    ],
  };
  const { scenario_id } = (await call('tests/scenarios', { body: scenario })).body;
  const play = async (version) => {
    const { run_id: id } = (await call('tests/runs', { body: { agent_id: agent, version } })).body;
    const ended = async () => (await call(`tests/runs/${id}`)).body.ended_at !== null;
    await until('it was played', ended, PLAYED_MS);
    return id;
  };
  const first = await play(1);
  const spoken = {
    agent_id: agent,
    name: 'Asks by telephone, in a noisy street',
    mode: 'voice',
    user: { lines: ['When do you open <break time="600ms"/> on Saturdays?'] },
    caller: { noise_db: -30, interruptions: [{ turn: 1, after_ms: 1200, say: 'Thank you.' }] },
    checks: [{ type: 'contains', text: 'ten' }, { type: 'answers_all' }],
  };
  const { scenario_id: voice } = (await call('tests/scenarios', { body: spoken })).body;
  const { suite_id: suite } = (
    await call('tests/suites', {
      body: { agent_id: agent, name: 'Before a release', scenario_ids: [scenario_id, voice] },
    })
  ).body;
  await call(`agents/${agent}/config`, {
    method: 'PATCH',
    body: { prompt: { system_prompt: 'The shop is closed for the holidays.' } },
  });
  const second = await play('draft');
  await call(`agents/${agent}/config`, { method: 'PATCH', body: { prompt: { system_prompt: PROMPT } } });
  const { phone_number_id: phone } = (
    await call('phone-numbers', {
      body: {
        provider: 'twilio',
        phone_number: '+493012345678',
        agent_id: agent,
        credentials: { auth_token: '0123456789abcdef0123456789abcdef' },
      },
    })
  ).body;
  return { call, agent, tool, text, scenario: scenario_id, voice, suite, first, second, phone };
}

/** What the microphone hears, over and over: a question after the agent's greeting, and long nothing. */
const SPOKEN = { before: 6, text: 'Good morning. When do you open on Saturdays?', after: 30 };

/** A call with what is published: one question is spoken, and one is written. */
async function talk(page, base, { agent }) {
  await page.goto(`${base}/console#/talk?agent=${agent}`);
  const said = (text) => page.locator('.lines li', { hasText: text }).first().waitFor();
  await page.getByRole('button', { name: 'Talk', exact: true }).click();
  await said('How can I help you?');
  await said('at ten on Saturdays');
  await page.getByText('The agent is listening.').waitFor();
  await page.getByLabel('Write').fill('Can a lamp be returned?');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await said('thirty days');
  await page.getByText('The agent is listening.').waitFor();
}

async function hangUp(page) {
  await page.getByRole('button', { name: 'Hang up' }).click();
  const record = page.getByRole('link', { name: 'Read and hear this call again' });
  return /calls\/(\w+)/.exec(await record.getAttribute('href'))[1];
}

const addressesOf = (known) => ({
  start: '',
  speak: 'speak',
  listen: 'listen',
  realtime: 'realtime',
  voices: 'voices',
  agents: 'agents',
  agent: `agents/${known.agent}`,
  versions: `agents/${known.agent}/versions`,
  webhooks: `agents/${known.agent}/webhooks`,
  settings: `agents/${known.agent}/settings`,
  tools: 'tools',
  tool: `tools/${known.tool}`,
  knowledge: 'knowledge',
  text: `knowledge/${known.text}`,
  tests: `tests?agent=${known.agent}`,
  scenario: `tests/scenarios/${known.scenario}`,
  spoken: `tests/scenarios/${known.voice}`,
  suites: `tests/suites?agent=${known.agent}`,
  suite: `tests/suites/${known.suite}`,
  runs: `tests/runs?agent=${known.agent}`,
  run: `tests/runs/${known.second}`,
  result: `tests/runs/${known.second}/${known.voice}`,
  compare: `tests/compare?base=${known.first}&other=${known.second}`,
  phone: 'phone',
  number: `phone/${known.phone}`,
  talk: `talk?agent=${known.agent}`,
  calls: 'calls',
  call: `calls/${known.session}`,
  deliveries: 'deliveries',
  audit: 'audit',
  machine: 'machine',
});

/** Until nothing loads any more. */
async function settled(page) {
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(
    () => document.querySelector('main h1') && !/Loading/.test(document.body.innerText),
  );
}

async function show(page, base, address, theme) {
  await page.evaluate((name) => localStorage.setItem('console.theme', name), theme);
  await page.goto(`${base}/console#/${address}`);
  await page.reload();
  await settled(page);
}

async function everyView(page, base, known, { folder, looks }) {
  for (const look of looks) {
    const [width, theme] = look.split('-');
    await page.setViewportSize({ width: Number(width), height: HEIGHT });
    for (const [name, address] of Object.entries(addressesOf(known))) {
      await show(page, base, address, theme);
      await page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage: true });
    }
  }
}

/** What a user does before there is something to see. */
const SCENES = {
  speak: async (page) => {
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    await until('it has arrived', async () => !/–/.test(await page.locator('.figures').innerText()));
  },
  realtime: async (page) => {
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    await page.locator('.events summary', { hasText: 'response.done' }).waitFor();
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  },
  call: async (page) => {
    await until('the recording is there', () =>
      page.getByRole('button', { name: 'Play', exact: true }).isEnabled(),
    );
    await page.locator('.transcript button').nth(2).click();
  },
  compare: async (page) => {
    await until('what was said is there', async () => (await page.locator('.lines').count()) === 3);
  },
};

async function forReadme(page, base, known) {
  await page.setViewportSize(README_SIZE);
  const addresses = addressesOf(known);
  for (const [name, prepare] of Object.entries(SCENES)) {
    await show(page, base, addresses[name], 'light');
    await prepare(page);
    await writeFile(join(IMAGES, `console-${name}.png`), await page.screenshot());
  }
}

const [target = '', ...asked] = process.argv.slice(2);
if (target === '') throw new Error('Say which folder, or --readme');
const folder = target === '--readme' ? IMAGES : target;
await mkdir(folder, { recursive: true });
const gateway = await startGateway({ ...DEFAULTS, ...MEDIA });
const browser = await startBrowser(gateway, SPOKEN);
try {
  const known = await seed(gateway);
  const { page } = await browser.open(`${gateway.base}/console`, 'Sign in · Speech gateway');
  await signIn(page);
  await talk(page, gateway.base, known);
  if (folder !== IMAGES) await page.screenshot({ path: join(folder, 'talking.png'), fullPage: true });
  const session = await hangUp(page);
  if (folder === IMAGES) await forReadme(page, gateway.base, { ...known, session });
  else
    await everyView(
      page,
      gateway.base,
      { ...known, session },
      { folder, looks: asked.length > 0 ? asked : LOOKS },
    );
} finally {
  await browser.stop();
  await gateway.stop();
}
