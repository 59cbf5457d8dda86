/** Protocol B's realtime transcription without its host: the machine, and a random walk over it. */
import t from '../../fixtures/tap.js';
import { createActor } from 'xstate';
import { actorClock } from '../../../actors/clock.js';
import {
  type CommittedTranscript,
  type PassingFault,
  type SessionEvent,
  type SessionFault,
  type TranscriptionEffect,
  transcriptionSession,
} from '../../../actors/transcription-session.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { exactly } from '../../fixtures/exactly.js';
import { pick, seeded } from '../../fixtures/random.js';
import { transcriptOf } from '../../fixtures/engines/transcript.js';

const tooMany: PassingFault = { type: 'queue_overflow', message: 'too many' };
const refusal: PassingFault = { type: 'commit_throttled', message: 'too short' };
const committedOf = (text: string): CommittedTranscript => ({ ...transcriptOf(text), from: 0 });
const fatal: SessionFault = { type: 'transcriber_error', message: 'no engine', close: 'internal' };

function startActor() {
  const clock = new SimulatedClock();
  const actor = createActor(transcriptionSession, { input: { tooMany }, clock: actorClock(clock) });
  const effects: TranscriptionEffect[] = [];
  actor.on('*', (effect) => void effects.push(effect));
  actor.start();
  return { actor, effects, clock, send: (event: SessionEvent) => actor.send(event) };
}

t.test('commits are answered one after the other, also those that are refused', (t) => {
  const { send, effects } = startActor();
  send({ type: 'commit' });
  send({ type: 'refusal', fault: refusal });
  send({ type: 'commit' });
  send({ type: 'refusal', fault: refusal });
  exactly(
    t,
    effects,
    [{ type: 'keep' }, { type: 'transcribe', job: 1 }, { type: 'keep' }],
    'one job at a time; what is committed is kept at once',
  );
  t.equal(effects.length, 3);
  send({ type: 'transcript', job: 2, transcript: committedOf('of no job') });
  send({ type: 'transcript', job: 1, transcript: committedOf('one') });
  send({ type: 'transcript', job: 1, transcript: committedOf('one again') });
  send({ type: 'failed', job: 2, fault: { type: 'input_error', message: 'too long' } });
  exactly(t, effects.slice(3), [
    { type: 'committed', transcript: { text: 'one' } },
    { type: 'error', fault: refusal },
    { type: 'transcribe', job: 2 },
    { type: 'error', fault: { message: 'too long' } },
    { type: 'error', fault: refusal },
  ]);
  send({ type: 'commit' });
  exactly(t, effects.at(-1), { type: 'transcribe', job: 3 });
  t.end();
});

t.test('a commit beyond the 1,024 that may wait is refused at once, and keeps nothing', (t) => {
  const { send, effects } = startActor();
  const kept = (): number => effects.filter(({ type }) => type === 'keep').length;
  // One is transcribed, and 1,024 wait.
  for (let sent = 0; sent < 1025; sent++) send({ type: 'commit' });
  t.equal(kept(), 1025);
  send({ type: 'commit' });
  t.strictSame(effects.at(-1), { type: 'error', fault: tooMany });
  const told = effects.length;
  send({ type: 'refusal', fault: refusal });
  t.strictSame(effects.slice(told), [{ type: 'error', fault: tooMany }], 'nor has a refusal a place');
  t.equal(kept(), 1025);
  send({ type: 'transcript', job: 1, transcript: committedOf('one') });
  send({ type: 'commit' });
  t.equal(kept(), 1026, 'there is room again');
  t.end();
});

t.test('a partial transcript is sent until its audio is committed', (t) => {
  const { send, effects } = startActor();
  send({ type: 'audio' });
  send({ type: 'audio' });
  send({ type: 'interimText', job: 1, text: 'hel' });
  send({ type: 'audio' });
  send({ type: 'commit' });
  send({ type: 'interimText', job: 2, text: 'hello' });
  send({ type: 'audio' });
  send({ type: 'transcript', job: 3, transcript: committedOf('hello') });
  send({ type: 'audio' });
  exactly(t, effects, [
    { type: 'transcribeInterim', job: 1 },
    { type: 'partial', text: 'hel' },
    { type: 'transcribeInterim', job: 2 },
    { type: 'cancel' },
    { type: 'keep' },
    { type: 'transcribe', job: 3 },
    { type: 'committed' },
    { type: 'transcribeInterim', job: 4 },
  ]);
  t.equal(effects.length, 8);
  t.end();
});

t.test('a fault is reported, and ends the session only if it is one that closes', (t) => {
  const fault: SessionFault = { type: 'input_error', message: 'no JSON' };
  const close = { type: 'close', reason: 'internal', message: 'no engine' } as const;
  const [keep, cancel] = [{ type: 'keep' }, { type: 'cancel' }] as const;
  const error = (fault: SessionFault) => ({ type: 'error', fault }) as const;
  const transcribe = (job: number) => ({ type: 'transcribe', job }) as const;
  const interim = (job: number) => ({ type: 'transcribeInterim', job }) as const;
  const commit = { type: 'commit' } as const;
  const cases: readonly [string, readonly SessionEvent[], readonly TranscriptionEffect[]][] = [
    ['a faulty frame', [{ type: 'fault', fault }, { type: 'audio' }], [error(fault), interim(1)]],
    ['a refused commit', [{ type: 'refusal', fault: refusal }], [error(refusal)]],
    [
      'a fault that ends it',
      [commit, { type: 'fault', fault: fatal }, commit],
      [keep, transcribe(1), cancel, error(fatal), close],
    ],
    [
      'a transcription that fails',
      [commit, commit, { type: 'failed', job: 1, fault }],
      [keep, transcribe(1), keep, error(fault), transcribe(2)],
    ],
    [
      'one that fails for good',
      [commit, commit, { type: 'failed', job: 1, fault: fatal }, commit],
      [keep, transcribe(1), keep, error(fatal), close],
    ],
    [
      'a job that was cancelled fails for good',
      [{ type: 'audio' }, commit, { type: 'failed', job: 1, fault: fatal }],
      [interim(1), cancel, keep, transcribe(2)],
    ],
    [
      'an interim transcription that fails, and one that was cancelled',
      [{ type: 'audio' }, { type: 'noInterim', job: 0 }, { type: 'audio' }, { type: 'noInterim', job: 1 }, { type: 'audio' }],
      [interim(1), interim(2)],
    ],
    ['a client that leaves', [commit, { type: 'gone' }, commit], [keep, transcribe(1), cancel]],
  ]; // oxfmt-ignore
  for (const [name, events, wanted] of cases) {
    const { send, effects } = startActor();
    for (const event of events) send(event);
    t.strictSame(effects, wanted, name);
  }
  t.end();
});

/** Checks the invariants of one session after every effect, whatever is sent. */
function checked() {
  const session = startActor();
  const owed: (number | 'refusal')[] = [];
  let running: { readonly job: number; readonly interim: boolean } | undefined;
  let closed = false;
  let commits = 0;
  /** Numbers of the commits whose audio waits, as the host keeps them. */
  const kept: number[] = [];
  const problems: string[] = [];
  const must = (so: boolean, what: string): void => void (so || problems.push(what));
  const answered = (by: number | 'refusal'): void => must(owed.shift() === by, `answer ${by} out of turn`);
  const rules: {
    readonly [T in TranscriptionEffect['type']]: (e: Extract<TranscriptionEffect, { type: T }>) => void;
  } = {
    keep: () => void kept.push(commits),
    transcribe: ({ job }) => {
      must(!running, 'two jobs at once');
      must(kept.shift() === owed[0], 'transcribed out of turn');
      running = { job, interim: false };
    },
    transcribeInterim: ({ job }) => {
      must(!running && owed.length === 0, 'an interim transcription beside other work');
      running = { job, interim: true };
    },
    cancel: () => void (running = undefined),
    partial: ({ text }) =>
      must(text === `partial after ${commits}`, 'a partial transcript of committed audio'),
    committed: ({ transcript }) => answered(Number(transcript.text)),
    error: ({ fault }) => {
      if (fault === refusal) answered('refusal');
    },
    close: () => {
      must(!running, 'closed while a job runs');
      closed = true;
    },
  };
  session.actor.on('*', (effect) => {
    must(!closed, `${effect.type} after close`);
    (rules[effect.type] as (effect: TranscriptionEffect) => void)(effect);
  });
  const ended = (job: number): void => void (running?.job === job && (running = undefined));
  const commit = (): void => {
    owed.push(++commits);
    session.send({ type: 'commit' });
  };
  const refuse = (): void => {
    owed.push('refusal');
    session.send({ type: 'refusal', fault: refusal });
  };
  return { ...session, problems, commit, refuse, ended, owed, state: () => ({ running, commits, closed }) };
}

for (const seed of [1, 42, 99_999]) {
  t.test(`a random walk (seed ${seed}): answers in turn, one job at a time, nothing after the close`, (t) => {
    const random = seeded(seed);
    let session = checked();
    let answers = 0;
    let sessions = 0;
    for (let step = 0; step < 5000; step++) {
      const { running, commits, closed } = session.state();
      // A superseded job may still report.
      const job = random() < 0.8 ? (running?.job ?? 0) : Math.floor(random() * 20);
      const isCurrent = running?.job === job;
      const tell = (event: SessionEvent): void => {
        session.ended(job);
        session.send(event);
      };
      pick(random, [
        session.commit,
        session.refuse,
        () => session.send({ type: 'audio' }),
        () => session.send({ type: 'audio' }),
        () => running?.interim !== true || !isCurrent || tell({ type: 'interimText', job, text: `partial after ${commits}` }),
        () => isCurrent || tell({ type: 'interimText', job, text: 'stale' }),
        () => !(running?.interim ?? true) || tell({ type: 'noInterim', job }),
        () => (running?.interim ?? isCurrent) || tell({ type: 'transcript', job, transcript: committedOf(isCurrent ? String(session.owed[0]) : 'stale') }),
        () => (running?.interim ?? isCurrent) || tell({ type: 'transcript', job, transcript: committedOf(isCurrent ? String(session.owed[0]) : 'stale') }),
        () => random() < 0.05 && !running?.interim && isCurrent && tell({ type: 'failed', job, fault: fatal }),
        () => session.send({ type: 'fault', fault: { type: 'input_error', message: 'no JSON' } }),
        () => random() < 0.02 && session.send({ type: 'fault', fault: fatal }),
        () => random() < 0.02 && session.send({ type: 'gone' }),
      ])(); // oxfmt-ignore
      if (session.problems.length > 0) {
        t.fail(`step ${step}: ${session.problems.join(', ')}`);
        break;
      }
      if (session.actor.getSnapshot().status === 'done' || closed) {
        answers += session.effects.filter(({ type }) => type === 'committed').length;
        sessions += 1;
        session = checked();
      }
    }
    t.ok(answers > 50 && sessions > 5, `${answers} answers in ${sessions} sessions`);
    t.end();
  });
}
