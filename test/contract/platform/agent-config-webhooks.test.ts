/** The webhooks in an agent's configuration: their addresses, their secrets, and the question before a call (6.3). */
import t from '../../fixtures/tap.js';
import { AGENTS, at, configuredAgent } from '../../fixtures/platform/configured-agent.js';
import { places } from '../../fixtures/platform/platform.js';

const { platform, call, id, path: CONFIG, patch } = await configuredAgent(t);
const url = 'https://a.example/';

t.test('webhooks: one object stands for a list, addresses are checked, secrets are write-only', async (t) => {
  const post_call = (hook: unknown) => ({ webhooks: { post_call: hook } });
  const hooksOf = async () => at((await call('GET', CONFIG)).body, 'webhooks.post_call');
  const single = await patch(post_call({ url, secret: 'sesame' }));
  t.strictSame(at(single.body, 'webhooks.post_call'), [{ url, has_secret: true }]);
  t.notMatch(single.text, 'sesame');
  for (const bad of ['http://localhost/', 'http://127.0.0.1/', 'http://10.0.0.1/', 'http://169.254.169.254/', 'ftp://a.example/', 'https://u:p@a.example/', 'nothing']) {
    const answer = await patch(post_call([{ url }, { url: bad }]));
    t.strictSame([answer.status, places(answer)], [422, ['webhooks.post_call.1.url']], bad);
  } // oxfmt-ignore
  t.strictSame(places(await patch(post_call([{ url, secret: 'x'.repeat(257) }]))), [
    'webhooks.post_call.0.secret',
  ]);
  t.equal((await patch(post_call([{ url, secret: 'x'.repeat(256) }]))).status, 200);

  await patch(post_call([{ url: 'https://b.example/' }, { url }]));
  t.strictSame(
    await hooksOf(),
    [
      { url: 'https://b.example/', has_secret: false },
      { url, has_secret: true },
    ],
    'kept',
  );
  await patch(post_call([{ url, secret: null }]));
  t.strictSame(await hooksOf(), [{ url, has_secret: false }], 'removed');
  const rows = await platform.database.sql`select 1 from secrets where kind = 'webhook' and owner_id = ${id}`;
  t.equal(rows.length, 0, 'nothing of it is left');
  await patch(post_call(null));
  t.strictSame(await hooksOf(), []);

  const created = await platform.agent({ config: { webhooks: { post_call: { url, secret: 's' } } } });
  const config = (await call('GET', `${AGENTS}/${created}/config`)).body;
  t.strictSame(at(config, 'webhooks.post_call'), [{ url, has_secret: true }], 'at creation too');
});

t.test('the question before a call: its bounds, and what a change leaves out', async (t) => {
  const change = (init: unknown) => patch({ webhooks: { conversation_init: init } });
  const shown = async () => at((await call('GET', CONFIG)).body, 'webhooks.conversation_init');
  await change(null);
  const long = url + 'x'.repeat(4000 - url.length);
  for (const good of [
    { url: long },
    { url, secret: 'x'.repeat(256) },
    { url, timeout_seconds: 1.5 },
    { url, timeout_seconds: 8 },
  ])
    t.equal((await change(good)).status, 200);
  const wrong = {
    timeout_seconds: [0.9, 8.1, '5', true],
    web: ['true', 1],
    secret: ['x'.repeat(257), 5],
    url: [`${long}x`, 5, null],
    other: [1],
  };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values)
      t.strictSame(places(await change({ url, [name]: value })), [`webhooks.conversation_init.${name}`]);
  await change(null);
  const { text } = await change({ url, secret: 'sesame' });
  t.notMatch(text, 'sesame');
  t.strictSame(await shown(), { url, has_secret: true, timeout_seconds: 5, web: false });
  await change({ url, web: true, timeout_seconds: 2 });
  t.strictSame(await shown(), { url, has_secret: true, timeout_seconds: 2, web: true }, 'kept');
  await change({ url, web: null, timeout_seconds: null, secret: null });
  t.strictSame(await shown(), { url, has_secret: false, timeout_seconds: 5, web: false });
  await patch({
    webhooks: { post_call: [{ url, secret: 'other' }], conversation_init: { url, secret: 'sesame' } },
  });
  await patch({ webhooks: { post_call: [] } });
  t.strictSame(await shown(), { url, has_secret: true, timeout_seconds: 5, web: false }, 'each has its own');
  const rows = await platform.database.sql`select 1 from secrets where kind = 'webhook' and owner_id = ${id}`;
  t.equal(rows.length, 1);
  await change(null);
  t.equal(await shown(), null);
});
