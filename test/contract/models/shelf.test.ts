/** The routes by which the console adds models, with their progress, what goes wrong, and what is told before one is removed. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { smallVoiceEntry } from '../../fixtures/engines/small-voice.js';
import { exactly } from '../../fixtures/exactly.js';
import { startGateway } from '../../fixtures/gateway.js';
import { whole } from '../../fixtures/models/catalogue.js';
import { shelf } from '../../fixtures/models/running.js';
import { until } from '../../fixtures/until.js';

t.setTimeout(300_000);

interface Model {
  readonly name: string;
  readonly state: string;
}
interface Answer {
  readonly status: number;
  readonly body: {
    readonly models?: readonly Model[];
    readonly adding?: {
      readonly name: string;
      readonly bytes: number;
      readonly problem: string | null;
    } | null;
    readonly offered?: string | null;
    readonly fixed?: string | null;
    readonly message?: string;
  };
}

/** Answers that wait until somebody lets them go on. */
let held: (() => void)[] = [];
let holds = false;
const answer = () => (request: IncomingMessage, response: ServerResponse, body: Buffer) => {
  if (!holds || !request.url?.endsWith('model.onnx')) return whole(request, response, body);
  response.writeHead(200, { etag: '"x"', 'content-length': body.length });
  response.write(body.subarray(0, body.length / 2));
  held.push(() => response.end(body.subarray(body.length / 2)));
};

const wrong = (base: string) => {
  const entry = smallVoiceEntry('wrong', base);
  const [item, ...others] = entry.sources[0]!.items;
  return { ...entry, sources: [{ items: [{ ...item!, sha256: '0'.repeat(64) }, ...others] }] };
};
const large = (base: string) => ({ ...smallVoiceEntry('large', base), bytes: 1e15 });
const gone = (base: string) => {
  const entry = smallVoiceEntry('gone', base);
  return {
    ...entry,
    sources: [{ items: [{ ...entry.sources[0]!.items[0]!, url: `${base}/nowhere.onnx` }] }],
  };
};

const { modelsDir, env } = await shelf(
  t,
  (base) => [
    smallVoiceEntry('small', base),
    smallVoiceEntry('second', base),
    wrong(base),
    large(base),
    gone(base),
  ],
  answer,
);
const gateway = await startGateway({ ...env, TTS_ENGINES: '', LOG_LEVEL: 'info' });
t.teardown(() => gateway.stop());

async function ask(method: string, path = '', key?: string, body?: object): Promise<Answer> {
  const authorization = key === undefined ? gateway.authorization : { authorization: `Bearer ${key}` };
  const isWhole = path.startsWith('/v1');
  const response = await fetch(`${gateway.base}${isWhole ? path : `/v1/machine/models${path}`}`, {
    method,
    headers: { ...authorization, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
}

const stateOf = async (name: string): Promise<string | undefined> =>
  (await ask('GET')).body.models?.find((model) => model.name === name)?.state;

/** Why the last one failed. */
const problem = (name: string): Promise<string> =>
  until(`${name} has failed`, async () => {
    const { adding } = (await ask('GET')).body;
    return adding?.name === name && adding.problem !== null && adding.problem;
  });

t.test('the catalogue is listed with what is to be known before', async (t) => {
  const { status, body } = await ask('GET');
  t.equal(status, 200);
  exactly(
    t,
    body.models!.find(({ name }) => name === 'small'),
    {
      task: 'tts',
      title: 'A small voice called small',
      languages: ['en'],
      licence: 'CC0-1.0',
      lineage: 'made for the tests',
      disk_bytes: 1_000_000,
      state: 'absent',
      quick_enough_for_calls: true,
      decided_by: [],
    },
  );
  exactly(t, body, { offered: 'kokoro-en-int8', adding: null, fixed: null, problem: null });
});

t.test('one is added with its progress, one at a time, and can be cancelled', async (t) => {
  holds = true;
  exactly(t, await ask('POST', '/small'), { status: 202, body: { name: 'small', bytes: 0, problem: null } });
  await until('half of it has come', async () => {
    const { adding } = (await ask('GET')).body;
    return adding?.name === 'small' && adding.bytes > 10_000;
  });
  exactly(t, await ask('POST', '/second'), {
    status: 409,
    body: { message: /^small is being added; one at a time$/ },
  });
  t.equal((await ask('DELETE', '/second/download')).status, 409);
  t.equal((await ask('DELETE', '/small/download')).status, 204);
  await until('it is cancelled', async () => (await ask('GET')).body.adding === null);
  t.equal(await stateOf('small'), 'absent');
  for (const goOn of held) goOn();
  holds = false;
  held = [];
  t.equal((await ask('POST', '/small')).status, 202);
  await until('it is in use', async () => (await stateOf('small')) === 'in_use');
  exactly(t, await ask('POST', '/small'), { status: 409, body: { message: /in place already/ } });
  exactly(t, (await ask('GET')).body, { offered: null, adding: null });
});

t.test('what goes wrong is told, and leaves nothing behind', async (t) => {
  t.equal((await ask('POST', '/unheard-of')).status, 404);
  for (const [name, says] of [
    ['wrong', /is not what the catalogue says; nothing of it was kept/],
    ['large', /MB free; set-up needs about/],
    ['gone', /127\.0\.0\.1:\d+: the server answered 404/],
  ] as const) {
    t.equal((await ask('POST', `/${name}`)).status, 202, name);
    t.match(await problem(name), says);
    t.notOk(existsSync(join(modelsDir, 'catalogue', name)));
  }
});

t.test('whoever may not is refused; what is done is in the audit trail', async (t) => {
  t.equal((await ask('POST', '/second', 'sk_nobody')).status, 401);
  const trail = await ask('GET', '/v1/agent/audit?action=model.added');
  t.match(JSON.stringify(trail.body), /"subject_id":"small"/);
});

t.test('a voice that agents speak with is removed only by somebody who is sure', async (t) => {
  const list = (await (
    await fetch(`${gateway.base}/model?page_size=100`, { headers: gateway.authorization })
  ).json()) as {
    items: { _id: string; title: string }[];
  };
  const voice = list.items.find(({ title }) => title === 'small')!._id;
  const agent = await ask('POST', '/v1/agent/agents', undefined, { name: 'Lamp shop' });
  const id = (agent.body as { agent_id?: string }).agent_id;
  const changed = await ask('PATCH', `/v1/agent/agents/${id}/config`, undefined, {
    voice: { voice_id: voice },
  });
  t.equal(changed.status, 200, JSON.stringify(changed.body));
  exactly(t, await ask('DELETE', '/small'), {
    status: 409,
    body: { message: /^Agents speak with it: Lamp shop\. / },
  });
  t.equal(await stateOf('small'), 'in_use');
  t.equal((await ask('DELETE', '/small?sure=true')).status, 204);
  t.match(await stateOf('small'), /absent|leaving/);
  exactly(t, await ask('DELETE', '/small'), { status: 409, body: { message: /not in place/ } });
});

t.test('a folder that cannot be written says what to do', async (t) => {
  const folder = join(modelsDir, 'catalogue');
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'in its place not even root can make a folder');
  const says = /^MODELS_DIR \(.*\) cannot be written: give the gateway a volume there/;
  exactly(t, (await ask('GET')).body, { fixed: says });
  exactly(t, await ask('POST', '/second'), { status: 409, body: { message: says } });
});
