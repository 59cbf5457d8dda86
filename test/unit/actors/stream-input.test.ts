/**
 * The machine of a context of protocol B’s speech sockets: what each sequence of events does, and random
 * walks.
 */
import t from '../../fixtures/tap.js';
import { createActor } from 'xstate';
import { actorClock } from '../../../actors/clock.js';
import { speechSocket, type SpeechSocketEffect } from '../../../actors/stream-input-socket.js';
import {
  type SocketFault,
  streamInput,
  type StreamInputEffect,
  type StreamInputEvent,
} from '../../../actors/stream-input.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { pick, seeded } from '../../fixtures/random.js';

const FAULT: SocketFault = { message: 'no', error: 'no', code: 1008 };

const STEPS = 3000;
const SEEDS = [1, 2, 3];

const speak = (fed: boolean) => ({ type: 'speak', fed }) as const;
const [message, end, gone] = [{ type: 'message' }, { type: 'end' }, { type: 'gone' }] as const;
const [done, failed] = [{ type: 'done' }, { type: 'failed', fault: FAULT }] as const;
const stop = { type: 'stop' } as const;

/** Effects in short: `refuse` is one with FAULT. */
const short = (effect: StreamInputEffect): string =>
  effect.type === 'refuse' && effect.fault !== FAULT ? 'refuse with another fault' : effect.type;

/** A number of ms lets that time pass. The client may be silent for 20,000. */
type Step = StreamInputEvent | number;

const SEQUENCES: readonly [name: string, steps: readonly Step[], effects: string, refusal?: SocketFault][] = [
  ['a whole life', [message, speak(true), message, end, done], 'begin endText finish'],
  ['no text', [message, speak(false), end, message], 'finish'],
  ['text after a flush of nothing', [speak(false), speak(true), done], 'begin finish'],
  ['one beginning', [speak(true), speak(true), end, end, speak(true), done], 'begin endText finish'],
  ['what may not speak is refused at a flush', [message, speak(false), end], 'refuse', FAULT],
  ['also where there is text', [speak(true), done], 'refuse', FAULT],
  ['also at its end', [message, end], 'refuse', FAULT],
  ['a fault before it speaks', [failed, end], 'refuse'],
  ['a fault while it speaks', [speak(true), failed, done], 'begin cancel refuse'],
  ['a fault after its end', [speak(true), end, failed, done], 'begin endText cancel refuse'],
  ['a client leaves', [message, gone, end], ''],
  ['a client leaves while it is spoken to', [speak(true), gone, done], 'begin cancel'],
  ['a client leaves after the end', [speak(true), end, gone, done], 'begin endText cancel'],
  ['a client wants to hear no more', [speak(true), end, stop, done], 'begin endText cancel finish'],
  ['it says so before the end', [speak(true), stop, end, done], 'begin cancel finish'],
  ['it says so before it speaks', [message, stop, speak(true)], 'finish'],
  ['an end of no job', [done, speak(true), done, end], 'begin finish'],
  ['a silence before it speaks', [15_000, message, 19_999, message, 20_000, 60_000], 'idle'],
  ['a silence while it speaks', [15_000, speak(true), 15_000, message, 19_999, 1, 60_000], 'begin idle'],
  ['each silence', [20_000, message, 20_000, speak(true), 20_000], 'idle idle begin idle'],
  ['no silence after the end', [speak(true), end, 60_000, done, 60_000], 'begin endText finish'],
];

t.test('a context: what each sequence of events does', async (t) => {
  for (const [name, steps, wanted, refusal] of SEQUENCES) {
    const clock = new SimulatedClock();
    const input = { inactivityMs: 20_000, refusal };
    const actor = createActor(streamInput, { input, clock: actorClock(clock) });
    const effects: string[] = [];
    actor.on('*', (effect) => void effects.push(short(effect)));
    actor.start();
    for (const step of steps) {
      if (typeof step === 'number') clock.advance(step);
      else actor.send(step);
    }
    t.equal(effects.join(' '), wanted, name);
  }
});

/** Contexts one after the other, each driven at random to its end. */
t.test('in a random walk each context has one beginning and one end, and nothing after it', async (t) => {
  for (const seed of SEEDS) {
    const random = seeded(seed);
    let steps = 0;
    let spoken = 0;
    let refused = 0;
    while (steps < STEPS) {
      const clock = new SimulatedClock();
      const refusal = random() < 0.1 ? FAULT : undefined;
      const actor = createActor(streamInput, {
        input: { inactivityMs: 20_000, refusal },
        clock: actorClock(clock),
      });
      const effects: StreamInputEffect['type'][] = [];
      actor.on('*', ({ type }) => void effects.push(type));
      actor.start();
      let left = false;
      let ended = false;
      let stopped = false;
      let over = false;
      let heardAt = 0;
      const isOver = (): boolean => actor.getSnapshot().status === 'done';
      for (let step = 0; step < 60 && !isOver(); step++, steps++) {
        const running = effects.includes('begin') && !over;
        pick(random, [
          () => (actor.send({ type: 'message' }), (heardAt = clock.now())),
          () => actor.send({ type: 'speak', fed: random() < 0.5 }),
          () => random() < 0.2 && (actor.send({ type: 'end' }), (ended = true)),
          () => running && random() < 0.3 && ((over = true), actor.send({ type: 'done' })),
          () => random() < 0.05 && actor.send({ type: 'failed', fault: FAULT }),
          () => random() < 0.05 && ((left = true), actor.send({ type: 'gone' })),
          () => random() < 0.05 && ((stopped = true), actor.send(stop)),
          () => {
            const before = effects.length;
            clock.advance(random() * 15_000);
            const said = effects.slice(before);
            if (said.length > 0 && (ended || clock.now() - heardAt < 20_000)) t.fail(`idle: ${said.join()}`);
          },
        ])();
      }
      const byUs = !isOver();
      if (byUs) actor.send({ type: 'gone' });
      const ends = effects.filter((type) => type === 'finish' || type === 'refuse');
      const begun = effects.filter((type) => type === 'begin').length;
      spoken += begun;
      refused += ends.filter((type) => type === 'refuse').length;
      const wrong =
        begun > 1 ||
        (refusal && begun > 0) ||
        ends.length > 1 ||
        (left && ends.length > 0) ||
        (ends.length > 0 && effects.at(-1) !== ends[0]) ||
        (ends[0] === 'finish' && begun === 1 && !over && !stopped) ||
        effects.includes('cancel') !==
          (begun === 1 && !over && (ends[0] === 'refuse' || left || stopped || byUs)) ||
        clock.pending > 0;
      if (wrong) return t.fail(`seed ${seed}: ${effects.join()}`);
    }
    t.ok(spoken > 30 && refused > 6, `seed ${seed}: ${spoken} spoke, ${refused} were refused`);
  }
});

t.test('in a random walk each socket closes once, as normal only when no context is left', async (t) => {
  for (const seed of SEEDS) {
    const random = seeded(seed);
    let steps = 0;
    const closes = { normal: 0, fault: 0 };
    while (steps < STEPS) {
      const clock = new SimulatedClock();
      const input = { inactivityMs: 20_000, silence: FAULT };
      const actor = createActor(speechSocket, { input, clock: actorClock(clock) });
      const effects: SpeechSocketEffect[] = [];
      actor.on('*', (effect) => void effects.push(effect));
      actor.start();
      let contexts = 0;
      let left = false;
      const isOver = (): boolean => actor.getSnapshot().status === 'done';
      const takes = (): boolean =>
        effects.findLast(({ type }) => type === 'takeFrames' || type === 'dropFrames')?.type === 'takeFrames';
      for (let step = 0; step < 60 && !isOver(); step++, steps++) {
        pick(random, [
          () => actor.send({ type: 'identified' }),
          () => actor.send({ type: 'message' }),
          () => takes() && (contexts++, actor.send({ type: 'opened' })),
          () => contexts > 0 && --contexts === 0 && actor.send({ type: 'emptied' }),
          () => takes() && random() < 0.2 && actor.send({ type: 'leave' }),
          () => random() < 0.03 && actor.send({ type: 'fault', fault: FAULT }),
          () => random() < 0.03 && ((left = true), actor.send({ type: 'gone' })),
          () => clock.advance(random() * 8000),
        ])();
      }
      const close = effects.find((effect) => effect.type === 'close');
      if (!isOver()) actor.send({ type: 'gone' });
      const normal = close?.fault === undefined;
      if (close) closes[normal ? 'normal' : 'fault'] += 1;
      const told = effects
        .map(({ type }) => type)
        .filter((type) => type !== 'takeFrames' && type !== 'dropFrames')
        .join();
      const wanted = !close ? '' : normal ? 'close' : 'refuse,close';
      if (told !== wanted || (left && close) || (close && normal && contexts > 0) || clock.pending > 0)
        return t.fail(`seed ${seed}: ${told}, ${contexts} contexts`);
    }
    t.ok(closes.normal > 6 && closes.fault > 6, JSON.stringify(closes));
  }
});
