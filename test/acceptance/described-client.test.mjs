/**
 * A client that openapi-python-client generates from the description of the described platform
 * (test/contract/platform/platform-today.openapi.json), used with real gateways: every operation, a configuration with every member, a
 * placed call with all kinds of items in its record, and the events of it. The generated classes refuse answers without their required
 * members and with words that they do not know; what they let pass, types and bounds, is checked against the description here. It fetches
 * the generator, so it is a long form.
 */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checker } from '../../dist/contracts/schemas/check.js';
import { startModel, toolSaid } from '../../dist/test/fixtures/chat/model.js';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { externalTool } from '../../dist/test/fixtures/external.js';
import { temporaryFolder } from '../../dist/test/fixtures/folders.js';
import { TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { SipApi } from '../../dist/test/fixtures/livekit/sip-api.js';
import { twilioApi } from '../../dist/test/fixtures/phone/api-twilio.js';
import { newNumber, PlacedCalls, SECRET } from '../../dist/test/fixtures/phone/placed-calls.js';
import { fullConfig } from '../../dist/test/fixtures/platform/full-config.js';
import { startPlatform } from '../../dist/test/fixtures/platform/platform.js';
import {
  DESCRIBED,
  DESCRIPTION,
  OPERATIONS,
  schemaIn,
} from '../../dist/test/fixtures/platform/platform-today.js';
import { startReceiver } from '../../dist/test/fixtures/platform/receiver.js';
import { pipSkipReason } from '../../dist/test/fixtures/python.js';
import t from '../../dist/test/fixtures/tap.js';
import { until } from '../../dist/test/fixtures/until.js';

t.setTimeout(1_800_000);

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('described-client.py', import.meta.url));
/** The version with which client/python is generated. */
const [GENERATOR] = /openapi-python-client==[\d.]+/.exec(
  readFileSync(new URL('../../client/python/pyproject.toml', import.meta.url), 'utf8'),
);
const SETTINGS = 'package_name_override: described_client\nliteral_enums: true\npost_hooks: []\n';

const skip = pipSkipReason();

/** A Python that has the generator's dependencies, and the folder with the generated client. */
async function generated(folder) {
  const environment = join(folder, 'environment');
  await run(externalTool('python3'), ['-m', 'venv', environment]);
  const python = join(environment, 'bin', 'python');
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', GENERATOR]);
  const config = join(folder, 'generator.yaml');
  writeFileSync(config, SETTINGS);
  const made = join(folder, 'generated');
  const options = ['--path', fileURLToPath(DESCRIPTION), '--config', config, '--meta', 'none'];
  const output = join(made, 'described_client');
  await run('mkdir', ['-p', made]);
  await run(python, [
    '-m',
    'openapi_python_client',
    'generate',
    ...options,
    '--output-path',
    output,
    '--fail-on-warning',
  ]);
  return { python, made };
}

const snake = (id) => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const BY_NAME = new Map(OPERATIONS.map(({ operation }) => [snake(operation.operationId), operation]));

t.test(
  'a client of the described platform reads all that a gateway answers and tells',
  { skip },
  async (t) => {
    const folder = temporaryFolder();
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const { python, made } = await generated(folder);
    const asked = new Set();
    /** Runs a part of the program; resolves with what it found. */
    const program = async (part, told) => {
      const running = run(python, [PROGRAM], { env: { ...process.env, PYTHONPATH: made }, maxBuffer: 1e8 });
      running.child.stdin.end(JSON.stringify({ ...told, do: part }));
      const { answers, found } = JSON.parse((await running).stdout);
      for (const { operation, status, body } of answers) {
        asked.add(operation);
        const schema = schemaIn(BY_NAME.get(operation).responses[String(status)]);
        const checked = schema && checker(schema)(body);
        if (checked && !checked.ok) t.fail(`${operation} ${status}: ${JSON.stringify(checked.problems)}`);
      }
      return found;
    };

    const calls = await PlacedCalls.start(t);
    const { talks } = calls;
    const own = await calls.line(twilioApi);
    const model = await startModel();
    t.teardown(() => model.stop());
    const hook = await startReceiver(t);
    const told = { base: talks.gateway.base, key: TEST_KEY, hook: hook.url, model: model.url };

    const config = fullConfig('', '', hook.url);
    const { agent, caller, pending } = await program('make', { ...told, config });
    t.equal((await talks.call(`sessions/${pending}`)).body.status, 'pending');

    model.answer(() => 500);
    const to = newNumber();
    const session = await program('place', { ...told, agent: caller, number: own.numberId, to });
    const call = await own.api.call(to);
    await call.tell('ringing', SECRET);
    const line = await calls.answered({ call, api: own.api });
    const record = () => talks.record({ session_id: session });
    const has = (kind) =>
      until(`an item ${kind}`, async () => (await record()).items.some(({ type }) => type === kind));
    await has('llm.endpoint_error');
    model.answer((messages) =>
      toolSaid(messages) === undefined ? { calls: { lookup: { order: 'A-17' } } } : 'Done.',
    );
    await until('the agent is heard', () => line.audible > 16);
    line.press('4', '#');
    await has('tool_result');
    await until('it has said so', async () =>
      (await record()).items.some(({ role, content }) => role === 'assistant' && content === 'Done.'),
    );
    line.hangUp();
    await call.tell('ended', SECRET);
    const events = () => hook.seen.map(({ body }) => JSON.parse(body)).filter(({ event }) => event);
    const names = () => events().map(({ event }) => event);
    await until(
      'all is told',
      () => names().includes('call.analyzed') && names().includes('phone_call.ended'),
    );

    // The question before a call: on the web it is an addition of ours.
    const init = { url: hook.url, web: true };
    await talks.call(`agents/${caller}/config`, {
      method: 'PATCH',
      body: { webhooks: { conversation_init: init } },
    });
    await talks.call(`agents/${caller}/publish`, { method: 'POST' });
    await talks.session(caller);
    await until('it is asked', () => names().includes('conversation.init'));

    for (const body of events().filter(({ event }) => event in DESCRIBED.webhooks)) {
      const checked = checker(schemaIn(DESCRIBED.webhooks[body.event].post.requestBody))(body);
      t.strictSame(checked.problems ?? [], [], body.event);
    }
    const read = await program('read', { ...told, session, agent: caller, events: events() });
    exactly(t, read, {
      items: ['llm.endpoint_error', 'message', 'tool_call', 'tool_result'],
      events: ['call.analyzed', 'call.ended', 'conversation.init', 'phone_call.dial_finished'],
      dialled: ['outbound', 'answered'],
      tracks: 2,
    });

    const { api, env } = await SipApi.start(t);
    const sip = await startPlatform(t, env);
    const at = { base: sip.gateway.base, key: sip.key };
    await program('import', { ...at, number: newNumber() });
    api.refuses = 'away';
    await program('import_fails', { ...at, number: newNumber() });

    await program('remove', { ...told, agents: [agent, caller] });
    t.strictSame(
      [...BY_NAME.keys()].filter((name) => !asked.has(name)),
      [],
      'operations that were not asked',
    );
  },
);
