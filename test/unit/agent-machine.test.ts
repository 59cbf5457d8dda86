/**
 * What the agent's machine decides by: the looks of a transcript, the classes of an overlap. Then a random walk over
 * it.
 */
import t from 'tap';
import { createActor } from 'xstate';
import { agentMachine } from '../../actors/agent/agent.js';
import type { AgentEffect, AgentEvent } from '../../actors/agent/events.js';
import type { Opening, Sensitivity } from '../../actors/agent/settings.js';
import { lookOf } from '../../actors/agent/turns/endpointing.js';
import { overlapOf, verdictOf } from '../../actors/agent/turns/interruption.js';
import { actorClock } from '../../actors/clock.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
import { pick, seeded } from '../fixtures/random.js';
import { SETTINGS } from '../fixtures/scene.js';

const SENSITIVITIES = ['low', 'balanced', 'high'] as const satisfies Sensitivity[];

t.test('what a transcript looks like decides how long the silence must be', async (t) => {
  const looks: [string, string, string][] = [
    ['What time is it?', 'en', 'complete'],
    ['I would like to go.', 'en', 'complete'],
    ['I would like to', 'en', 'unfinished'],
    ['My number is, um.', 'en', 'unfinished'],
    ['Well...', 'en', 'unfinished'],
    ['Tomorrow', 'en', 'open'],
    ['Ich möchte und', 'de', 'unfinished'],
    ['明日は', 'ja', 'unfinished'],
    ['明日行きます。', 'ja', 'complete'],
  ];
  for (const [text, language, look] of looks) t.equal(lookOf(text, language), look, text);
});

t.test('overlap classes and what each sensitivity makes of them', async (t) => {
  t.equal(overlapOf('...'), 'noise');
  t.equal(overlapOf('Uh-huh.'), 'backchannel');
  t.equal(overlapOf('Yeah, okay.'), 'backchannel');
  t.equal(overlapOf('Yeah, but no.'), 'speech');
  t.equal(verdictOf('stop', 'low', true), 'later');
  t.equal(verdictOf('stop', 'balanced', false), undefined);
  t.equal(verdictOf('stop', 'balanced', true), 'interrupt');
  t.equal(verdictOf('stop', 'high', false), undefined, 'half a word may be any word');
  t.equal(verdictOf('stop that', 'high', false), 'interrupt');
  t.equal(verdictOf('yeah wr', 'high', false), undefined);
  t.equal(overlapOf('なるほど、そうですね。'), 'backchannel');
  t.equal(
    verdictOf('予約を変更したいんですけど', 'low', false),
    'interrupt',
    'words without blanks count as well',
  );
});

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
      if (effect.type === 'reply' || effect.type === 'say' || effect.type === 'excuse') begin(effect.job);
      if (effect.type === 'cancel') {
        if (live !== effect.job) broken.push(`cancel of ${effect.job}, alive is ${live}`);
        live = undefined;
      }
      if (effect.type === 'hold' || effect.type === 'release') held = effect.type === 'hold';
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
      () => ({ type: 'heard', span, text: pick(random, texts), final: random() < 0.5 }),
      () => ({ type: 'heard', span: 0, text: 'stale', final: true }),
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
      const { user } = (actor.getSnapshot().value as { talking?: { user?: unknown } }).talking ?? {};
      if (event.type === 'voice' && event.active && user !== 'speaking') span += 1;
      actor.send(event);
      if (over > 1) broken.push('more than one end');
      if (over > 0) start();
    }
    actor.stop();
    t.same(broken, [], `seed ${seed}`);
    t.ok(jobs > 500 && open > 500, `seed ${seed} went everywhere: ${jobs} jobs, ${open} messages`);
  }
});
