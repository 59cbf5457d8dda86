/** The tools and sources in an agent's configuration: each must exist in its workspace, and be called apart (6.3). */
import t from '../../fixtures/tap.js';
import { AGENTS, at, configuredAgent } from '../../fixtures/platform/configured-agent.js';
import { places } from '../../fixtures/platform/platform.js';

const { platform, call, path: CONFIG, patch } = await configuredAgent(t);

t.test('tools and sources must exist in the workspace', async (t) => {
  const [tool, source] = [await platform.tool(), await platform.source()];
  const answer = await patch({
    tools: { tool_ids: [tool, tool] },
    knowledge_base: { knowledge_source_ids: [source] },
  });
  t.strictSame(at(answer.body, 'tools.tool_ids'), [tool]);
  t.strictSame(at(answer.body, 'knowledge_base.knowledge_source_ids'), [source]);
  const many = (count: number) =>
    patch({
      tools: { tool_ids: Array(count).fill(tool) },
      knowledge_base: { knowledge_source_ids: Array(count).fill(source) },
    });
  t.equal((await many(100)).status, 200);
  t.strictSame(places(await many(101)), ['tools.tool_ids', 'knowledge_base.knowledge_source_ids']);
  const missing = await patch({
    tools: { tool_ids: [tool, tool, 'tool_x', 'tool_y'] },
    knowledge_base: { knowledge_source_ids: ['ks_x'] },
    prompt: { first_message: 'not this', system_prompt: ' bakery'.repeat(4001) },
    webhooks: { post_call: [{ url: 'http://localhost/' }] },
  });
  t.strictSame(places(missing), [
    'prompt.system_prompt',
    'webhooks.post_call.0.url',
    'tools.tool_ids.2',
    'tools.tool_ids.3',
    'knowledge_base.knowledge_source_ids.0',
  ]);
  const after = (await call('GET', CONFIG)).body;
  t.strictSame(after['tools'], answer.body['tools'], 'a refused change changes nothing');
  t.not(at(after, 'prompt.first_message'), 'not this');

  const other = { key: platform.otherKey };
  const { body } = await call('POST', '/v1/agent/tools', { ...other, body: { name: 'Theirs' } });
  t.strictSame(
    places(await patch({ tools: { tool_ids: [body['tool_id']] } })),
    ['tools.tool_ids.0'],
    'another workspace’s',
  );
  const creation = await call('POST', AGENTS, {
    body: { name: 'A', config: { tools: { tool_ids: ['x'] } } },
  });
  t.strictSame([creation.status, places(creation)], [422, ['config.tools.tool_ids.0']]);
  const listed = (await call('GET', `${AGENTS}?page=1`)).body['total'];
  await call('POST', AGENTS, { body: { name: 'A', config: { tools: { tool_ids: ['x'] } } } });
  t.equal((await call('GET', `${AGENTS}?page=1`)).body['total'], listed, 'a refused creation leaves nothing');
});

t.test('two client tools of one agent need names of their own', async (t) => {
  const [one, two] = [await platform.tool({ name: 'open_cart', tool_type: 'client' }), await platform.tool({ name: 'open_cart', tool_type: 'client' })]; // oxfmt-ignore
  const refused = await patch({ tools: { tool_ids: [one, two] } });
  t.strictSame(
    [refused.status, refused.body['message']],
    [400, 'Two client tools of one agent are named open_cart'],
  );
  await call('PATCH', `/v1/agent/tools/${two}`, { body: { name: 'close_cart' } });
  t.equal((await patch({ tools: { tool_ids: [one, two] } })).status, 200);
  const renamed = await call('PATCH', `/v1/agent/tools/${two}`, { body: { name: 'open_cart' } });
  t.equal(renamed.status, 400, 'nor may a name become one that is taken');
});
