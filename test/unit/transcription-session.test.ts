/**
 * Protocol B's realtime transcription without its host: the machine and a random walk over it, the cost of partial
 * transcripts, words, and valid options and frames.
 */
import t from 'tap';
import { createActor } from 'xstate';
import { actorClock } from '../../actors/clock.js';
import {
  type CommittedTranscript,
  type SessionEffect,
  type SessionEvent,
  type SessionFault,
  transcriptionSession,
} from '../../actors/transcription-session.js';
import type { ErrorCode } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { RawAudio, Transcript } from '../../contracts/ports/speech.js';
import { defaultVocabulary } from '../../contracts/vocabulary.js';
import {
  TranscriptionFrameFault,
  readFrame,
} from '../../gateway/dialects/protocol-b/realtime/client-frames.js';
import { sessionOptions } from '../../gateway/dialects/protocol-b/realtime/options.js';
import { PartialTranscript } from '../../gateway/dialects/protocol-b/realtime/partial-transcript.js';
import { wordEntries } from '../../gateway/dialects/protocol-b/words.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
import { pick, seeded } from '../fixtures/random.js';
import { transcriptOf } from '../fixtures/transcript.js';

const tooMany: SessionFault = { type: 'queue_overflow', message: 'too many' };
const refusal: SessionFault = { type: 'commit_throttled', message: 'too short' };
const committedOf = (text: string): CommittedTranscript => ({ ...transcriptOf(text), from: 0 });
const fatal: SessionFault = { type: 'transcriber_error', message: 'no engine', close: 'internal' };

function startActor() {
  const clock = new SimulatedClock();
  const actor = createActor(transcriptionSession, { input: { tooMany }, clock: actorClock(clock) });
  const effects: SessionEffect[] = [];
  actor.on('*', (effect) => void effects.push(effect));
  actor.start();
  return { actor, effects, clock, send: (event: SessionEvent) => actor.send(event) };
}

t.test('commits are answered one after the other, refused ones in their turn', (t) => {
  const { send, effects } = startActor();
  send({ type: 'commit' });
  send({ type: 'refusal', fault: refusal });
  send({ type: 'commit' });
  send({ type: 'refusal', fault: refusal });
  t.match(
    effects,
    [{ type: 'keep' }, { type: 'transcribe', job: 1 }, { type: 'keep' }],
    'one job at a time; what is committed is kept at once',
  );
  t.equal(effects.length, 3);
  send({ type: 'transcript', job: 2, transcript: committedOf('of no job') });
  send({ type: 'transcript', job: 1, transcript: committedOf('one') });
  send({ type: 'transcript', job: 1, transcript: committedOf('one again') });
  send({ type: 'failed', job: 2, fault: { type: 'input_error', message: 'too long' } });
  t.match(effects.slice(3), [
    { type: 'committed', transcript: { text: 'one' } },
    { type: 'error', fault: refusal },
    { type: 'transcribe', job: 2 },
    { type: 'error', fault: { message: 'too long' } },
    { type: 'error', fault: refusal },
  ]);
  send({ type: 'commit' });
  t.match(effects.at(-1), { type: 'transcribe', job: 3 });
  t.end();
});

t.test('a commit beyond those that may wait is refused at once, and keeps nothing', (t) => {
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

t.test('a guess is told until its audio is committed', (t) => {
  const { send, effects } = startActor();
  send({ type: 'audio' });
  send({ type: 'audio' });
  send({ type: 'guessed', job: 1, text: 'hel' });
  send({ type: 'audio' });
  send({ type: 'commit' });
  send({ type: 'guessed', job: 2, text: 'hello' });
  send({ type: 'audio' });
  send({ type: 'transcript', job: 3, transcript: committedOf('hello') });
  send({ type: 'audio' });
  t.match(effects, [
    { type: 'guess', job: 1 },
    { type: 'partial', text: 'hel' },
    { type: 'guess', job: 2 },
    { type: 'cancel' },
    { type: 'keep' },
    { type: 'transcribe', job: 3 },
    { type: 'committed' },
    { type: 'guess', job: 4 },
  ]);
  t.equal(effects.length, 8);
  t.end();
});

t.test('a fault is told, and ends the session only if it closes it', (t) => {
  const fault: SessionFault = { type: 'input_error', message: 'no JSON' };
  const close = { type: 'close', reason: 'internal', message: 'no engine' } as const;
  const [keep, cancel] = [{ type: 'keep' }, { type: 'cancel' }] as const;
  const error = (fault: SessionFault) => ({ type: 'error', fault }) as const;
  const transcribe = (job: number) => ({ type: 'transcribe', job }) as const;
  const guess = (job: number) => ({ type: 'guess', job }) as const;
  const commit = { type: 'commit' } as const;
  const cases: readonly [string, readonly SessionEvent[], readonly SessionEffect[]][] = [
    ['a faulty frame', [{ type: 'fault', fault }, { type: 'audio' }], [error(fault), guess(1)]],
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
      [guess(1), cancel, keep, transcribe(2)],
    ],
    [
      'a guess that fails, and one that was cancelled',
      [{ type: 'audio' }, { type: 'notGuessed', job: 0 }, { type: 'audio' }, { type: 'notGuessed', job: 1 }, { type: 'audio' }],
      [guess(1), guess(2)],
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

t.test('after 3600 s the client is told, and the session ends', (t) => {
  const { send, effects, clock, actor } = startActor();
  send({ type: 'commit' });
  clock.advance(LIMITS.socket.connectionMs - 1);
  t.equal(effects.length, 2);
  clock.advance(1);
  t.match(effects.slice(2), [
    { type: 'cancel' },
    { type: 'error', fault: { type: 'session_time_limit_exceeded' } },
    { type: 'close', reason: 'policy', message: /limit of 3600 seconds/ },
  ]);
  t.equal(actor.getSnapshot().status, 'done');
  t.equal(clock.pending, 0);
  t.end();
});

/** Checks the invariants of one session after every effect, whatever is sent. */
function checked() {
  const session = startActor();
  const owed: (number | 'refusal')[] = [];
  let running: { readonly job: number; readonly guess: boolean } | undefined;
  let closed = false;
  let commits = 0;
  /** Numbers of the commits whose audio waits, as the host keeps them. */
  const kept: number[] = [];
  const problems: string[] = [];
  const must = (so: boolean, what: string): void => void (so || problems.push(what));
  const answered = (by: number | 'refusal'): void => must(owed.shift() === by, `answer ${by} out of turn`);
  const rules: { readonly [T in SessionEffect['type']]: (e: Extract<SessionEffect, { type: T }>) => void } = {
    keep: () => void kept.push(commits),
    transcribe: ({ job }) => {
      must(!running, 'two jobs at once');
      must(kept.shift() === owed[0], 'transcribed out of turn');
      running = { job, guess: false };
    },
    guess: ({ job }) => {
      must(!running && owed.length === 0, 'a guess beside other work');
      running = { job, guess: true };
    },
    cancel: () => void (running = undefined),
    partial: ({ text }) => must(text === `guess after ${commits}`, 'a guess at committed audio'),
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
    (rules[effect.type] as (effect: SessionEffect) => void)(effect);
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
        () => running?.guess !== true || !isCurrent || tell({ type: 'guessed', job, text: `guess after ${commits}` }),
        () => isCurrent || tell({ type: 'guessed', job, text: 'stale' }),
        () => !(running?.guess ?? true) || tell({ type: 'notGuessed', job }),
        () => (running?.guess ?? isCurrent) || tell({ type: 'transcript', job, transcript: committedOf(isCurrent ? String(session.owed[0]) : 'stale') }),
        () => (running?.guess ?? isCurrent) || tell({ type: 'transcript', job, transcript: committedOf(isCurrent ? String(session.owed[0]) : 'stale') }),
        () => random() < 0.05 && !running?.guess && isCurrent && tell({ type: 'failed', job, fault: fatal }),
        () => session.send({ type: 'fault', fault: { type: 'input_error', message: 'no JSON' } }),
        () => random() < 0.02 && session.send({ type: 'fault', fault: fatal }),
        () => random() < 0.02 && session.send({ type: 'gone' }),
        () => random() < 0.02 && session.clock.advance(LIMITS.socket.connectionMs * random()),
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

t.test('a guess covers what may still change, so that the work stays linear', (t) => {
  const rate = 8000;
  const audioOfSeconds = (seconds: number) => {
    const bytes = Math.round(seconds * rate) * 2;
    return { chunks: [new Uint8Array(bytes)], bytes };
  };
  const lengthOf = ({ chunks }: RawAudio): number =>
    chunks.reduce((sum, { byteLength }) => sum + byteLength, 0) / 2 / rate;
  const tail = new PartialTranscript(rate);
  /** A partial transcript `at` seconds with words, each with its start and end in the whole audio. */
  let covered = 0;
  const guess = (at: number, words: readonly (readonly [text: string, start: number, end: number])[]) => {
    const seconds = lengthOf(tail.take(audioOfSeconds(at)));
    covered += seconds;
    const from = at - seconds;
    const heard = words.filter(([, start]) => start >= from - 0.01);
    return { seconds, text: tail.add(heard.map(([text, start, end]) => ({ text, start: start - from, end: end - from }))) }; // oxfmt-ignore
  };
  t.notOk(tail.isDue(0.69 * rate * 2));
  t.ok(tail.isDue(0.7 * rate * 2));
  t.same(guess(5, []), { seconds: 5, text: '' });
  t.same(guess(6, [['one', 5, 6]]), { seconds: 2, text: 'one' }, 'of silence, a second is kept');
  t.notOk(tail.isDue(6.6 * rate * 2));
  t.same(guess(8, [['one two', 5, 7.5]]), { seconds: 3, text: 'one two' }, 'a segment that goes on');
  t.same(guess(9, [['one two', 5, 7.5]]), { seconds: 4, text: 'one two' });
  t.same(guess(10, []), { seconds: 2, text: 'one two' }, 'one that is over');
  t.same(guess(12, [['three', 10, 10.5], ['four', 11, 12]]), { seconds: 3, text: 'one two three four' }); // oxfmt-ignore
  t.same(guess(33, [['four goes on', 11, 33]]), { seconds: 22, text: 'one two three four goes on' });
  t.same(guess(34, []), { seconds: 1, text: 'one two three four goes on' }, 'one that never ends is cut');
  tail.reset();
  t.same(guess(1, [['new', 0, 1]]), { seconds: 1, text: 'new' });
  t.same(lengthOf(tail.take({ chunks: [], bytes: 0 })), 0);
  tail.reset();
  covered = 0;
  for (let at = 1; at < 600; at++) guess(at, at % 3 > 0 ? [['word', at - (at % 3), at]] : []);
  t.ok(covered < 600 * 4, `${covered} s of work for 600 s`);
  t.end();
});

t.test('words and spacing, whose texts joined are the text', (t) => {
  const word = (text: string, start: number, end: number) => ({ text, start, end });
  const cases: readonly Pick<Transcript, 'text' | 'words' | 'duration'>[] = [
    { text: 'Hello world', words: [word('Hello', 0.1, 0.5), word('world', 0.6, 1)], duration: 1.2 },
    { text: ' Hello,\nworld! ', words: [word('Hello', 0, 0.5), word('world', 0.6, 1)], duration: 1.2 },
    {
      text: '日本語です',
      words: [word('日', 0, 0.2), word('本', 0.2, 0.4), word('語', 0.4, 0.6)],
      duration: 1,
    },
    { text: 'going to go', words: [word('gonna', 0, 0.4), word('go', 0.5, 0.7)], duration: 1 },
    { text: 'no times at all', duration: 2 },
    { text: 'backward times', words: [word('backward', 1, 0.5), word('times', 0.2, 0.3)], duration: 0.1 },
    { text: 'words beside', words: [word('', 0, 1), word('x'.repeat(200), 0, 1)], duration: 3 },
    { text: '', words: [], duration: 0 },
    { text: '   ', duration: 1 },
  ];
  for (const transcript of cases) {
    const entries = wordEntries(transcript);
    t.equal(entries.map(({ text }) => text).join(''), transcript.text);
    let last = 0;
    for (const { text, type, start, end, speaker_id, logprob } of entries) {
      t.ok(start >= last && end >= start, `${text} from ${start} to ${end}`);
      t.equal(type, text.trim() === '' ? 'spacing' : 'word');
      t.strictSame([speaker_id, logprob], [null, 0]);
      last = end;
    }
  }
  t.match(wordEntries(cases[0]!), [
    { text: 'Hello', type: 'word', start: 0.1, end: 0.5 },
    { text: ' ', type: 'spacing', start: 0.5, end: 0.6 },
    { text: 'world', type: 'word', start: 0.6, end: 1 },
  ]);
  const many = Array.from({ length: 20_000 }, (_, index) => word(`w${index}`, index, index + 1));
  const text = many.map((one) => one.text).join(' ');
  t.equal(wordEntries({ text: text.toUpperCase(), words: many, duration: 20_000 }).length, 39_999);
  t.end();
});

t.test('options of the query are taken, or refused each with its code', (t) => {
  const optionsOf = (query: string) => sessionOptions(new URLSearchParams(query), defaultVocabulary);
  const unset = { model: 'transcribe-1', sampleRate: 16_000, language: '', timestamps: false };
  for (const query of [
    '',
    'model_id=&audio_format=&language_code=',
    'model_id=null&audio_format=null&language_code=null',
  ])
    t.match(optionsOf(query), unset);
  t.match(
    optionsOf(
      'model_id=scribe_v2_realtime&audio_format=pcm_22050&commit_strategy=manual&language_code=eng&include_timestamps=true' +
        '&include_language_detection=1&enable_logging=true&no_verbatim=false&entity_detection=&keyterms=a&keyterms=b&vad_threshold=0.3',
    ),
    { sampleRate: 22_050, language: 'eng', timestamps: true, languageDetection: true },
  );
  t.match(optionsOf('model_id=svc/transcribe-1&audio_format=ulaw_8000&audio_format=pcm_48000'), {
    sampleRate: 48_000,
  });
  const refusals: readonly [string, ErrorCode][] = [
    ['commit_strategy=vad', 'unsupported_option'],
    ['enable_logging=false', 'unsupported_option'],
    ['enable_logging=False', 'unsupported_option'],
    ['no_verbatim=true', 'unsupported_option'],
    ['entity_detection=all&entity_detection=', 'unsupported_option'],
    ['diarize=1', 'unsupported_option'],
    ['audio_format=ulaw_8000', 'unsupported_format'],
    ['audio_format=pcm_32000', 'unsupported_format'],
    ['audio_format=__proto__', 'unsupported_format'],
    ['model_id=whisper-9', 'model_not_found'],
    ['model_id=eleven_flash_v2_5', 'model_not_found'],
  ];
  for (const [query, code] of refusals) t.throws(() => optionsOf(query), { code }, query);
  t.end();
});

const faultIn = (data: string | Uint8Array): SessionFault | undefined => {
  try {
    readFrame(data, 16_000);
    return undefined;
  } catch (error) {
    if (error instanceof TranscriptionFrameFault) return error.fault;
    throw error;
  }
};

t.test('frames are taken in every spelling; the others are told as input_error', (t) => {
  const chunk = (fields: object): string => JSON.stringify({ message_type: 'input_audio_chunk', ...fields });
  for (const fields of [
    {},
    { audio_base_64: '' },
    { audio_base_64: null, commit: null, sample_rate: null, previous_text: null },
    { audio_base_64: 'AAA=', commit: 'true', sample_rate: '16000' },
    { audio_base_64: 'data:audio/pcm;base64,AAAA', unknown: [1] },
  ])
    t.equal(faultIn(chunk(fields)), undefined, JSON.stringify(fields));
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const wrong: readonly (string | Uint8Array)[] = [
    '', 'null', '[]', '{', '"x"', '{"message_type":"session.update"}', '{"message_type":"__proto__"}',
    chunk({ audio_base_64: 7 }), chunk({ audio_base_64: ['AAAA'] }),
    chunk({ sample_rate: 8000 }), chunk({ sample_rate: [8000] }), chunk({ commit: 'perhaps' }),
    deep, chunk({ junk: deep }).replace(/"\[/, '[').replace(/\]"/, ']'), Uint8Array.of(1, 2),
  ]; // oxfmt-ignore
  for (const data of wrong) {
    const fault = faultIn(data);
    t.match(fault, { type: 'input_error', message: String }, String(data).slice(0, 60));
    t.equal(fault?.close, undefined);
  }
  t.match(faultIn(chunk({ audio_base_64: 'A'.repeat(LIMITS.socket.frameBytes) })), { close: 'tooBig' });
  t.end();
});
