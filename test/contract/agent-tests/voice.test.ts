/**
 * A test by voice on a whole gateway: a simulated caller in one short call over WebRTC, and the removal of the call's session
 * with its run (docs/agent-tests.md "By voice").
 */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { ok, over, type Run, scenarioOf, start, TESTS } from '../../fixtures/agent-tests/runs.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Answer, type Json, places, sharedPlatform } from '../../fixtures/platform/platform.js';
import { until } from '../../fixtures/until.js';

const platform = await sharedPlatform(t);
const { agent, call, database } = platform;

const scenario = (agentId: string, body: Json): Promise<Answer> =>
  scenarioOf(platform, agentId, { name: 'Calls', mode: 'voice', user: { lines: ['Hello there.'] }, ...body });

t.test('what only a call has is refused in a scenario by text, and so are pauses without end', async (t) => {
  const agentId = await agent();
  const text = await scenario(agentId, {
    ...{ mode: 'text', caller: { noise_db: -20 }, checks: [{ type: 'answers_all' }] },
  });
  t.same(places(text), ['caller', 'checks.0.type']);
  const long = { user: { lines: ['a <break time="6s"/> b'] } };
  t.same(places(await scenario(agentId, long)), ['user.lines.0']);
  t.same(places(await scenario(agentId, { checks: [{ type: 'talk_over' }] })), ['checks.0.ms']);
});

t.test('the limits of scenarios by voice', async (t) => {
  const agentId = await agent();
  const { voice: limits } = LIMITS.agentTest;
  const interruption = { turn: 1, after_ms: 0, say: 'Stop' };
  const breaks = (ms: number, count: number): Json => ({
    user: { lines: [`a ${`<break time="${ms}ms"/> `.repeat(count)} b`] },
  });
  const within: readonly Json[] = [
    { caller: { interruptions: Array(limits.interruptions).fill(interruption) } },
    { caller: { interruptions: [{ ...interruption, after_ms: limits.after.max }] } },
    { caller: { pause_ms: limits.pause.max, noise_db: limits.noise.min } },
    breaks(limits.pause.max, limits.pauses / limits.pause.max),
    { checks: [{ type: 'talk_over', ms: limits.after.max }] },
  ];
  for (const body of within) t.equal((await scenario(agentId, body)).status, 201, JSON.stringify(body));
  const beyond: readonly (readonly [Json, string])[] = [
    [
      { caller: { interruptions: Array(limits.interruptions + 1).fill(interruption) } },
      'caller.interruptions',
    ],
    [
      { caller: { interruptions: [{ ...interruption, after_ms: limits.after.max + 1 }] } },
      'caller.interruptions.0.after_ms',
    ],
    [{ caller: { pause_ms: limits.pause.max + 1 } }, 'caller.pause_ms'],
    [{ caller: { noise_db: limits.noise.min - 1 } }, 'caller.noise_db'],
    [{ caller: { noise_db: limits.noise.max + 1 } }, 'caller.noise_db'],
    [breaks(limits.pause.max + 1, 1), 'user.lines.0'],
    [breaks(limits.pause.max, limits.pauses / limits.pause.max + 1), 'user.lines.0'],
    [{ checks: [{ type: 'talk_over', ms: limits.after.max + 1 }] }, 'checks.0.ms'],
  ];
  for (const [body, place] of beyond) {
    const answer = await scenario(agentId, body);
    t.equal(answer.status, 422, place);
    t.ok(places(answer).includes(place), `${place}: ${answer.text}`);
  }
});

t.test('a run whose caller would be mute is refused', async (t) => {
  const agentId = await agent();
  const { scenario_id: id } = await ok(scenario(agentId, { caller: { voice: 'nobody' } }));
  const refused = await start(platform, { agent_id: agentId });
  t.same(places(refused), [`${String(id)}.caller.voice`], refused.text);
});

/** Runs it up to three times: if the machine stalls for a fifth of a second, a caller misses a word of the agent's. */
async function heardRun(agentId: string): Promise<Run> {
  for (let attempt = 1; ; attempt += 1) {
    const run = await over(platform, start(platform, { agent_id: agentId }), 120_000);
    if (run['status'] === 'passed' || attempt === 3) return run;
  }
}

t.test(
  'a caller is answered over WebRTC; the words are those that it heard; the session goes with the run',
  async (t) => {
    const opening = { first_message_mode: 'fixed', first_message: 'Bakery.' };
    const agentId = await agent({ config: { prompt: opening } });
    const checks = [
      { type: 'contains', text: 'Bakery' },
      { type: 'answers_all' },
      { type: 'never_interrupts' },
      { type: 'ended_by', by: 'user' },
    ];
    await ok(scenario(agentId, { checks }));
    const run = await heardRun(agentId);
    exactly(t, run, { status: 'passed' }, JSON.stringify(run));
    const path = `${TESTS}/runs/${String(run['run_id'])}`;
    const result = await ok<Json & { call: { session_id: string } }>(
      call('GET', `${path}/results/${String(run.results[0]?.['scenario_id'])}`),
    );
    exactly(t, result, {
      transcript: [
        { speaker: 'agent', text: 'Bakery.' },
        { speaker: 'caller', text: 'Hello there.' },
        { speaker: 'agent' },
      ],
      items: [{ role: 'assistant' }, { role: 'user' }, { role: 'assistant' }],
    });
    const session = `/v1/agent/sessions/${result.call.session_id}`;
    exactly(t, await ok(call('GET', session)), {
      source: 'dashboard',
      ended_reason: 'hangup',
      turns: [{}, {}],
    });
    t.equal((await call('GET', `${session}/recording`)).status, 200);
    t.equal((await call('DELETE', path)).status, 204);
    t.same(await database.sql`select id from sessions where id = ${result.call.session_id}`, []);
  },
);

t.test('a run that is cancelled in mid-call and deleted leaves no session', async (t) => {
  const agentId = await agent({ config: { prompt: { first_message_mode: 'off' } } });
  await ok(scenario(agentId, { user: { lines: Array(10).fill('<break time="5s"/>') } }));
  const { run_id: id } = await ok<Run>(start(platform, { agent_id: agentId }));
  const sessions = () =>
    database.sql<{ status: string }[]>`select status from sessions where agent_id = ${agentId}`;
  await until('the call has begun', async () => (await sessions())[0]?.status === 'active', 60_000);
  exactly(t, await ok(call('POST', `${TESTS}/runs/${id}/cancel`)), { status: 'cancelled' });
  t.equal((await call('DELETE', `${TESTS}/runs/${id}`)).status, 204);
  t.ok(await until('its session is gone', async () => (await sessions()).length === 0, 60_000));
});
