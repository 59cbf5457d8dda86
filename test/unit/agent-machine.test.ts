/** A random walk over the agent's machine (actors/agent). */
import t from 'tap';
import { createActor } from 'xstate';
import { agentMachine } from '../../actors/agent/agent.js';
import type { AgentEffect, AgentEvent } from '../../actors/agent/events.js';
import type { Opening, Sensitivity } from '../../actors/agent/settings.js';
import { actorClock } from '../../actors/clock.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
import { pick, seeded } from '../fixtures/random.js';
import { SETTINGS } from '../fixtures/scene.js';

const SENSITIVITIES = ['low', 'balanced', 'high'] as const satisfies Sensitivity[];

t.test('a random walk: one job at a time, none begins held, one end and nothing after it', async (t) => {
  const texts = ['', 'mm-hm', 'I want to', 'No, stop that right now.', 'yes'] as const;
  for (const seed of [1, 2, 3, 4]) {
    const random = seeded(seed);
    const clock = new SimulatedClock();
    let jobs = 0;
    const broken: string[] = [];
    let span = 0;
    let live: number | undefined;
    let open = 0;
    let over = 0;
    let held = false;
    let actor = createActor(agentMachine, { input: SETTINGS });
    const begin = (job: number): void => {
      if (live !== undefined) broken.push(`job ${job} while ${live} lives`);
      if (held) broken.push(`job ${job} begins held`);
      live = job;
      jobs += 1;
    };
    const perform = (effect: AgentEffect): void => {
      if (over > 0) broken.push(`${effect.type} after the end`);
      if (effect.type === 'beginSpan') span = effect.span;
      if (effect.type === 'reply' || effect.type === 'say' || effect.type === 'excuse') begin(effect.job);
      if (effect.type === 'cancel') {
        if (live !== effect.job) broken.push(`cancel of ${effect.job}, alive is ${live}`);
        live = undefined;
      }
      if (effect.type === 'pause' || effect.type === 'resume') held = effect.type === 'pause';
      if (effect.type === 'message') open += 1;
      if (effect.type === 'end') over += 1;
    };
    const start = (): void => {
      const opening = pick<Opening>(random, [
        { mode: 'off' },
        { mode: 'fixed', text: 'Hi' },
        { mode: 'prompt' },
      ]);
      const sensitivity = pick(random, SENSITIVITIES);
      const interruptible = random() < 0.8;
      const input = { ...SETTINGS, opening, sensitivity, interruptible, reengage: true };
      live = undefined;
      held = false;
      over = 0;
      span = 0;
      actor = createActor(agentMachine, { input, clock: actorClock(clock) });
      actor.on('*', perform);
      actor.start();
      actor.send({ type: 'connected' });
    };
    const job = (): number => (random() < 0.8 ? (live ?? 1) : Math.ceil(random() * 20));
    const ending = (type: 'ended' | 'failed'): AgentEvent => {
      const ended = job();
      if (ended === live) live = undefined;
      return { type, job: ended };
    };
    const events: readonly [() => AgentEvent, ...(() => AgentEvent)[]] = [
      () => ({ type: 'voice', active: true }),
      () => ({ type: 'voice', active: false }),
      () => ({ type: 'transcript', span, text: pick(random, texts), final: random() < 0.5 }),
      () => ({ type: 'transcript', span: 0, text: 'stale', final: true }),
      () => ({ type: 'audible', job: job() }),
      () => ending('ended'),
      () => ending('failed'),
      () => ({ type: 'hangUp', job: job() }),
      () => ({ type: 'typed', text: 'typed', aloud: random() < 0.5 }),
      () => ({ type: 'interrupt' }),
      () => ({ type: 'activity' }),
      () => ({ type: random() < 0.5 ? 'connected' : 'disconnected' }),
      () => (random() < 0.02 ? { type: 'left' } : { type: 'activity' }),
    ];
    start();
    for (let step = 0; step < 10_000; step += 1) {
      if (random() < 0.3) clock.advance(Math.floor(random() * 2000));
      const event = pick(random, events)();
      actor.send(event);
      if (over > 1) broken.push('more than one end');
      if (over > 0) start();
    }
    actor.stop();
    t.same(broken, [], `seed ${seed}`);
    t.ok(jobs > 500 && open > 500, `seed ${seed} went everywhere: ${jobs} jobs, ${open} messages`);
  }
});
