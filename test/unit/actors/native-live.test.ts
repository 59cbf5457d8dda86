/** The actors on a simulated clock: seeded random walks check the promises in each actor's header. */
import t from '../../fixtures/tap.js';
import { createActor } from 'xstate';
import { actorClock } from '../../../actors/clock.js';
import { type LiveEffect, type LiveEvent, nativeLive } from '../../../actors/native-live.js';
import { CLOSE, type CloseReason } from '../../../contracts/close-codes.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { SynthesisRequest } from '../../../contracts/ports/speech/speech.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { pick, seeded } from '../../fixtures/random.js';

const REST = LIMITS.native.liveRestMs;
// The machine passes requests on and never looks into them.
const request = { text: '' } as SynthesisRequest;
const start = { type: 'start', request } as const;

function open() {
  const clock = new SimulatedClock();
  const effects: LiveEffect[] = [];
  const actor = createActor(nativeLive, { clock: actorClock(clock) });
  actor.on('*', (effect) => void effects.push(effect));
  actor.start();
  return { clock, effects, send: (event: LiveEvent) => actor.send(event), actor };
}

/** Short form of an effect: `begin 1`, `finish stop`, `close normal`. */
const short = (effect: LiveEffect): string => {
  if (effect.type === 'begin') return `begin ${effect.job}`;
  if (effect.type === 'finish' || effect.type === 'close') return `${effect.type} ${effect.reason}`;
  return effect.type;
};

const REFUSED = ['finish error', 'close policy'];

t.test('what each sequence of events does', async (t) => {
  const done = (job: number) => ({ type: 'done', job }) as const;
  const cases: [string, LiveEvent[], string[]][] = [
    ['a whole life', [start, { type: 'stop' }, done(1)], ['begin 1', 'endText', 'finish stop']],
    [
      'stop ends it after finish',
      [start, { type: 'stop' }, done(1), { type: 'stop' }],
      ['begin 1', 'endText', 'finish stop', 'close normal'],
    ],
    [
      'another start after finish',
      [start, { type: 'stop' }, done(1), start, { type: 'stop' }, done(2)],
      ['begin 1', 'endText', 'finish stop', 'begin 2', 'endText', 'finish stop'],
    ],
    ['text before start', [{ type: 'text' }], REFUSED],
    ['flush before start', [{ type: 'flush' }], REFUSED],
    ['stop before start', [{ type: 'stop' }], REFUSED],
    [
      'text after finish',
      [start, { type: 'stop' }, done(1), { type: 'text' }],
      ['begin 1', 'endText', 'finish stop', ...REFUSED],
    ],
    ['a second start', [start, start], ['begin 1', 'cancel', ...REFUSED]],
    [
      'a second start after stop',
      [start, { type: 'stop' }, start],
      ['begin 1', 'endText', 'cancel', ...REFUSED],
    ],
    [
      'text after stop',
      [start, { type: 'stop' }, { type: 'text' }],
      ['begin 1', 'endText', 'cancel', ...REFUSED],
    ],
    [
      'stop twice, and a flush',
      [start, { type: 'stop' }, { type: 'stop' }, { type: 'flush' }],
      ['begin 1', 'endText'],
    ],
    [
      'a job that fails',
      [start, { type: 'failed', job: 1, message: 'm', close: 'internal' }],
      ['begin 1', 'finish error', 'close internal'],
    ],
    [
      'a fault while a job runs',
      [start, { type: 'fault', message: 'm', close: 'tooBig' }],
      ['begin 1', 'cancel', 'finish error', 'close tooBig'],
    ],
    [
      'a fault without a job',
      [{ type: 'fault', message: 'm', close: 'unsupportedData' }],
      ['finish error', 'close unsupportedData'],
    ],
    ['a client that goes', [start, { type: 'gone' }, done(1), start], ['begin 1', 'cancel']],
    [
      'what an old job says',
      [
        start,
        { type: 'stop' },
        done(1),
        start,
        done(1),
        { type: 'failed', job: 1, message: 'm', close: 'internal' },
      ],
      ['begin 1', 'endText', 'finish stop', 'begin 2'],
    ],
  ];
  for (const [name, events, wanted] of cases) {
    const { effects, send } = open();
    for (const event of events) send(event);
    t.strictSame(effects.map(short), wanted, name);
  }
});

t.test('a client is told what was wrong', async (t) => {
  const fault = { message: 'Reference not found', close: 'policy' } as const;
  const stop = { type: 'stop' } as const;
  const cases: [LiveEvent[], string][] = [
    [[start, { type: 'failed', job: 1, ...fault }], fault.message],
    [[start, { type: 'fault', ...fault }], fault.message],
    [[{ type: 'fault', ...fault }], fault.message],
    ...[{ type: 'text' } as const, { type: 'flush' } as const, stop].map((first): [LiveEvent[], string] => [
      [first],
      'The first event must be start',
    ]),
    [[start, start], 'start was sent while a synthesis runs'],
    [[start, stop, { type: 'text' }], 'text was sent after stop'],
  ];
  for (const [events, message] of cases) {
    const { effects, send } = open();
    for (const event of events) send(event);
    t.strictSame(effects.at(-2), { type: 'finish', reason: 'error', message });
  }
});

t.test('a socket without another start closes after its rest, and not while a job runs', async (t) => {
  const { effects, send, clock } = open();
  clock.advance(10 * REST);
  t.strictSame(effects, [], 'a client may take its time before the first start');
  send(start);
  clock.advance(10 * REST);
  send({ type: 'stop' });
  clock.advance(10 * REST);
  send({ type: 'done', job: 1 });
  clock.advance(REST - 1);
  send(start);
  clock.advance(10 * REST);
  send({ type: 'stop' });
  send({ type: 'done', job: 2 });
  clock.advance(REST);
  t.equal(effects.map(short).at(-1), 'close normal');
  t.equal(clock.pending, 0, 'no timer is left');
  const told = effects.length;
  send(start);
  t.equal(effects.length, told, 'nothing follows');
});

const REASONS = Object.keys(CLOSE) as [CloseReason, ...CloseReason[]];

t.test('a random walk never breaks the invariants', async (t) => {
  const random = seeded(20_26);
  const seen = new Set<string>();
  for (let walk = 0; walk < 400; walk++) {
    const { effects, send, clock, actor } = open();
    const fault = () => ({ message: 'm', close: pick(random, REASONS) });
    let gone = false;
    let jobs = 0;
    const moves: readonly [() => void, ...(() => void)[]] = [
      () => send(start),
      () => send(start),
      () => send({ type: 'stop' }),
      () => send({ type: 'stop' }),
      () => send({ type: 'done', job: Math.max(1, jobs - Math.floor(random() * 2)) }),
      () => send({ type: 'done', job: Math.max(1, jobs) }),
      () => clock.advance(Math.floor(random() * REST)),
      () => random() < 0.3 && send({ type: 'text' }),
      () => random() < 0.3 && send({ type: 'flush' }),
      () =>
        random() < 0.2 &&
        send({ type: 'failed', job: Math.max(1, jobs - Math.floor(random() * 2)), ...fault() }),
      () => random() < 0.1 && send({ type: 'fault', ...fault() }),
      () => random() < 0.05 && (send({ type: 'gone' }), (gone = true)),
    ];
    const broken: string[] = [];
    for (let step = 0; step < 60; step++) {
      pick(random, moves)();
      jobs = effects.filter(({ type }) => type === 'begin').length;
      broken.push(...violations(effects.map(short), gone));
      if (broken.length > 0) break;
    }
    for (const effect of effects) seen.add(effect.type);
    if (!t.strictSame(broken, [], `walk ${walk}: ${effects.map(short).join(', ')}`)) return;
    send({ type: 'gone' });
    t.equal(clock.pending, 0, 'nothing is left behind a closed socket');
    t.equal(actor.getSnapshot().status, 'done');
  }
  t.strictSame([...seen].sort(), ['begin', 'cancel', 'close', 'endText', 'finish']);
});

/** The rules that a sequence of effects breaks, in words. */
function violations(effects: readonly string[], gone: boolean): string[] {
  const found: string[] = [];
  const closes = effects.filter((effect) => effect.startsWith('close'));
  if (closes.length > 1) found.push('closed twice');
  if (closes.length === 1 && !effects.at(-1)?.startsWith('close')) found.push('something follows a close');
  let running = false;
  let unanswered = 0;
  for (const effect of effects) {
    if (effect.startsWith('begin')) {
      if (running) found.push('two jobs at once');
      running = true;
      unanswered += 1;
    } else if (effect === 'cancel') {
      if (!running) found.push('cancelled what does not run');
      running = false;
    } else if (effect.startsWith('finish')) {
      if (effect === 'finish stop' && !running) found.push('finished what does not run');
      running = false;
      unanswered -= 1;
    } else if (effect === 'endText' && !running) found.push('ended the text of no job');
    if (unanswered < -1) found.push('a finish too many');
  }
  if (closes.length === 1 && unanswered > 0) found.push('a start without a finish');
  if (gone && running) found.push('a job outlives its client');
  return found;
}
