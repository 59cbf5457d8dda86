/**
 * Jobs of the agent's machine, event by event: their numbers, events of a job that is over, what breaks one off, failures,
 * and hand-overs.
 */
import { isDeepStrictEqual } from 'node:util';
import t from '../../../fixtures/tap.js';
import type { AgentEvent } from '../../../../actors/agent/events.js';
import { REENGAGE_MS, TIMES } from '../../../../actors/agent/times.js';
import { type JobEvent, STATEMENT_MS, Steps } from '../../../fixtures/actors/agent-steps.js';
import { exactly } from '../../../fixtures/exactly.js';
import { SETTINGS } from '../../../fixtures/actors/scene.js';

const JOBS = ['say', 'reply', 'excuse', 'warn'] as const;

t.test('jobs are numbered in the order in which they begin', async (t) => {
  const steps = new Steps({ opening: { mode: 'fixed', text: 'Hi' } });
  steps.job('audible').job('ended').type('Hello').job('failed').job('audible').job('ended');
  steps.send({ type: 'news' }).job('ended').pass(SETTINGS.maxDurationMs);
  t.strictSame(steps.took(...JOBS), [
    'say 1 Hi',
    'reply 2 turn aloud',
    'excuse 3 aloud answer',
    'reply 4 news aloud',
    'warn 5',
  ]);
});

t.test('a first message by prompt is asked of the model as the opener', async (t) => {
  t.strictSame(new Steps({ opening: { mode: 'prompt' } }).took(...JOBS), ['reply 1 opener aloud']);
});

t.test('after noise a withdrawn answer is asked for again, and a stopped one is continued', async (t) => {
  const sound = (steps: Steps) =>
    steps
      .voice(false)
      .final('')
      .pass(2000)
      .took(...JOBS);
  t.strictSame(sound(new Steps().type('Count.').voice(true).guess('but I also want')), [
    'reply 1 turn aloud',
    'reply 2 turn aloud',
  ]);
  t.strictSame(sound(new Steps().answering().voice(true).guess('stop it now').guess('stop it now')), [
    'reply 1 turn aloud',
    'reply 2 continue aloud',
  ]);
});

/** Situations in which job 2 runs, or is drafted. */
const SITUATIONS: Readonly<Record<string, () => Steps>> = {
  'it thinks': () => new Steps().type('One.').type('Two.'),
  'its tool runs': () => new Steps().type('One.').type('Two.').job('acted'),
  'it speaks': () => new Steps().type('One.').type('Two.').job('audible').pass(200),
  'it is held': () => new Steps().type('One.').type('Two.').job('audible').pass(200).voice(true),
  'it excuses': () => new Steps().type('One.').job('failed'),
  'its call is nearly over': () =>
    new Steps({ maxDurationMs: 60_000 }).type('One.').type('Two.').job('audible').pass(54_000),
  'it is drafted': () => new Steps({ drafts: true }).type('One.').job('ended').say('I need a room.'),
  'its draft is ready': () =>
    new Steps({ drafts: true }).type('One.').job('ended').say('I need a room.').job('audible'),
};

const JOB_EVENTS: readonly JobEvent[] = [
  ...(['audible', 'ending', 'acted', 'returned', 'hangUp'] as const),
  ...(['ended', 'failed', 'sentenceOver'] as const),
];
const settings = { ...SETTINGS, sensitivity: 'low', opening: { mode: 'prompt' } } as const;
const eventsOf = (job: number): readonly AgentEvent[] => [
  ...JOB_EVENTS.map((type) => ({ type, job })),
  { type: 'handedOver', job, settings },
];

/** What a conversation comes to: the user makes a sound, the job ends, and the user asks something else. */
const rest = (steps: Steps): string[] =>
  steps
    .pass(3000)
    .job('audible')
    .pass(1500)
    .voice(true)
    .pass(300)
    .voice(false)
    .final('')
    .pass(2000)
    .job('ended')
    .pass(2000)
    .say('And now?')
    .pass(3000)
    .took();

t.test('events of a job that is over or has not begun are ignored', async (t) => {
  for (const [situation, begin] of Object.entries(SITUATIONS)) {
    t.equal(begin().lastJob, 2, situation);
    const wanted = rest(begin());
    for (const event of [...eventsOf(1), ...eventsOf(3)]) {
      const found = rest(begin().send(event));
      if (!isDeepStrictEqual(found, wanted)) t.strictSame(found, wanted, `${situation}: ${event.type}`);
    }
  }
});

t.test('a cancelled job names what interrupted it', async (t) => {
  const thinking = () => new Steps().type('Count.').voice(true);
  const speaking = () => new Steps().answering();
  const cases: readonly (readonly [by: string, what: string, steps: Steps])[] = [
    ['message', 'a typed message', speaking().type('Stop.')],
    ['client', 'an interruption on purpose', speaking().send({ type: 'interrupt' })],
    ['words', 'final words', speaking().say('No, the other one please.')],
    ['command', 'a command', speaking().say('Stop.')],
    ['words', 'a word', speaking().say('Lamps.')],
    [
      'words',
      'words in two guesses while a question waits',
      new Steps({ sensitivity: 'low' })
        .answering()
        .say('In a minute.')
        .pass(STATEMENT_MS)
        .voice(true)
        .guess('I want tea now')
        .guess('I want tea now'),
    ],
    [
      'command',
      'a command that is understood late',
      speaking().voice(true).voice(false).pass(62_000).final('Stop.'),
    ],
    ['words', 'words in two guesses', speaking().voice(true).guess('I want tea').guess('I want tea')],
    ['command', 'a command in two guesses', speaking().voice(true).guess('stop it').guess('stop it')],
    ['words', 'words while it thinks', thinking().guess('but I also want')],
    ['command', 'a command while it thinks', thinking().guess('stop it now')],
    ['voice', 'a sound discards a draft', new Steps({ drafts: true }).say('I need a room.').voice(true)],
    [
      'timeout',
      'the longest duration',
      new Steps({ maxDurationMs: 60_000 }).answering().pass(54_000).job('sentenceOver'),
    ],
  ];
  for (const [by, what, steps] of cases) t.strictSame(steps.took('cancel'), [`cancel 1 ${by}`], what);
});

t.test('after an excuse that fails the agent listens again, without another excuse', async (t) => {
  const steps = new Steps().type('Hello').job('failed').job('failed');
  t.strictSame(steps.took('reply', 'excuse', 'state'), [
    'state listening',
    'reply 1 turn aloud',
    'state thinking',
    'excuse 2 aloud answer',
    'state thinking',
    'state listening',
  ]);
});

t.test('a waiting question is answered after the excuse, even if the excuse fails', async (t) => {
  for (const end of ['ended', 'failed'] as const) {
    const steps = new Steps({ sensitivity: 'low' }).answering().say('In a minute.').pass(STATEMENT_MS);
    steps.job('failed').job(end);
    t.strictSame(
      steps.took(...JOBS),
      ['reply 1 turn aloud', 'excuse 2 aloud answer', 'reply 3 turn aloud'],
      end,
    );
  }
});

t.test('a goodbye that fails is excused, and the call goes on', async (t) => {
  const steps = new Steps().type('Bye.').job('hangUp').job('failed').job('audible').job('ended');
  t.strictSame(steps.took('end', 'excuse'), ['excuse 2 aloud answer']);
});

t.test('a job that ends in the last seconds of the longest duration ends the call with it', async (t) => {
  const last = () => new Steps({ maxDurationMs: 60_000 }).answering().pass(54_000);
  t.strictSame(last().took('lastWords', 'end'), ['lastWords']);
  t.strictSame(last().job('ended').took('end'), ['end conversation_timeout']);
  t.strictSame(last().job('hangUp').job('ended').took('end'), ['end agent_hangup'], 'as the agent wanted');
  t.strictSame(
    new Steps().answering().job('sentenceOver').took('end', 'cancel'),
    [],
    'no sentence ends it before',
  );
});

t.test("after a hand-over the next agent's settings apply", async (t) => {
  const over = (sensitivity: 'low' | 'balanced') => {
    const steps = new Steps({ sensitivity: 'balanced' }).answering();
    steps.send({ type: 'handedOver', job: 1, settings: { ...SETTINGS, drafts: false, sensitivity } });
    return steps.job('ended').job('audible').pass(1000);
  };
  t.strictSame(over('low').took(...JOBS), ['reply 1 turn aloud', 'reply 2 handover aloud']);
  t.strictSame(over('balanced').voice(true).took('pause'), ['pause']);
  t.strictSame(over('low').voice(true).took('pause'), []);
});

t.test('a slow tool in a written answer gets no filler', async (t) => {
  const waited = (aloud: boolean) => new Steps().type('Hello', aloud).job('acted').pass(5000).took('fill');
  t.strictSame(waited(true), ['fill 1']);
  t.strictSame(waited(false), []);
});

t.test('tools that answer at once bring no filler before the answer has taken a moment', async (t) => {
  const heardLate = () =>
    new Steps().type('Count.', false).voice(true).voice(false).pass(5000).final('Stop.');
  const called = (ms: number) => heardLate().job('acted').pass(ms).job('returned');
  t.strictSame(heardLate().pass(TIMES.fillerLeastMs).took('fill'), ['fill 2'], 'the user has waited');
  const fast = called(1);
  t.strictSame(fast.pass(TIMES.fillerLeastMs - 2).took('fill'), []);
  t.strictSame(fast.pass(1).took('fill'), ['fill 2'], 'as soon as without tools');
  const slow = heardLate()
    .pass(TIMES.fillerLeastMs - 2)
    .job('acted')
    .pass(TIMES.fillerMs - 1);
  t.strictSame(slow.took('fill'), []);
  t.strictSame(slow.job('returned').took('fill'), ['fill 2'], 'at once behind slower ones');
});

const voiceless = (job: number): AgentEvent => ({ type: 'failed', job, by: 'speech' });

/** Jobs that the agent begins by itself: nobody waits for them. */
const UNASKED: Readonly<Record<string, () => Steps>> = {
  'a re-engagement': () => new Steps({ reengage: true }).pass(REENGAGE_MS[0]),
  'news of a tool': () => new Steps().pass(5000).send({ type: 'news' }),
};

t.test('a job that nobody asked for gets one filler while its tools run, and none besides', async (t) => {
  for (const [what, begin] of Object.entries(UNASKED)) {
    const fills = (steps: Steps) => steps.took('fill').length;
    t.equal(fills(begin().pass(60_000)), 0, `${what}: none while the model thinks`);
    const returned = begin().job('acted').pass(900).job('returned');
    t.equal(fills(returned.pass(60_000)), 0, `${what}: none once its tools have returned`);
    t.equal(fills(returned.job('acted').pass(900).job('returned').pass(60_000)), 0, 'however often');
    const slow = begin().job('acted').pass(4000).job('returned').pass(20_000);
    t.equal(fills(slow.job('acted').pass(20_000)), 1, `${what}: one for slow tools`);
  }
});

t.test(
  'the wait for an answer begins with the typed line or the key, whenever the voice ended',
  async (t) => {
    const typed = new Steps().say('').pass(5000).type('Hello').job('filled');
    t.strictSame(typed.pass(1900).took('fill'), []);
    exactly(t, typed.pass(200).took('fill'), [/^fill/]);
  },
);

t.test(
  'who asked nothing is not told to try again: openings are greeted instead, questions into silence let go',
  async (t) => {
    const opener = new Steps({ opening: { mode: 'prompt' } }).job('failed');
    exactly(t, opener.took('excuse'), [/opener$/]);
    const handover = new Steps()
      .answering()
      .send({ type: 'handedOver', job: 1, settings: SETTINGS })
      .job('ended');
    exactly(t, handover.job('failed').took('excuse'), [/opener$/]);
    const reengaged = new Steps({ reengage: true }).pass(REENGAGE_MS[0]).job('failed');
    t.strictSame(reengaged.took('excuse'), []);
    exactly(t, new Steps().type('Hello').job('failed').took('excuse'), [/answer$/], 'who asked is');
  },
);

t.test('a greeting that no voice could say is tried once more; a warning is let go', async (t) => {
  const greeting = new Steps({ opening: { mode: 'fixed', text: 'Hi' } }).send(voiceless(1));
  t.strictSame(greeting.took('say', 'excuse'), ['say 1 Hi', 'excuse 2 aloud opener']);
  t.strictSame(
    greeting
      .job('failed')
      .pass(60_000)
      .took(...JOBS, 'excuse', 'say'),
    [],
    'once',
  );
  const warned = new Steps({ maxDurationMs: 120_000 }).pass(120_000 - TIMES.warnMs);
  t.strictSame(warned.took('warn', 'excuse'), ['warn 1']);
  t.strictSame(warned.send(voiceless(1)).took('warn', 'excuse', 'reply'), [], 'nobody asked for it');
});

t.test('a re-engagement that works forgives no answer that failed before it', async (t) => {
  const steps = new Steps({ reengage: true });
  const fails = () => steps.type('Hello').job('failed').job('ended').took('excuse', 'end');
  exactly(t, fails(), [/answer$/]);
  exactly(t, fails(), [/answer$/]);
  t.match(steps.pass(REENGAGE_MS[0]).job('audible').job('ended').took('reply').at(-1), /reengage/);
  exactly(t, fails(), [/apology$/, /^end llm_endpoint_failure/]);
  const forgiven = new Steps();
  const failed = () => forgiven.type('Hello').job('failed').job('ended').took('excuse');
  const answered = () => forgiven.type('Hello').job('audible').job('ended');
  exactly(t, [...failed(), ...failed()], [/answer$/, /answer$/]);
  answered().took();
  exactly(t, [...failed(), ...failed()], [/answer$/, /answer$/], 'an answer does');
});

t.test(
  'a long silence in the middle of an answer is filled, again and again, and a short one is not',
  async (t) => {
    const dry = (settings = {}) => new Steps(settings).answering().job('dry');
    const fills = (steps: Steps, ms = TIMES.fillerAgainMs) => steps.pass(ms).took('fill');
    t.strictSame(fills(dry(), TIMES.fillerAgainMs - 1), []);
    const filled = dry();
    t.strictSame(fills(filled), ['fill 1']);
    t.strictSame(fills(filled.job('dry').job('filled').job('dry')), ['fill 1']);
    t.strictSame(fills(dry().pass(1000).job('fed'), 60_000), [], 'there was more of it');
    t.strictSame(fills(dry({ fills: false })), []);
    t.strictSame(fills(dry().voice(true)), [], 'the user speaks');
    t.strictSame(
      fills(new Steps().type('Hello').job('failed').job('audible').job('dry'), 60_000),
      [],
      'an excuse',
    );
  },
);

t.test("a ready answer waits for the transcript of the user's sound, and no longer", async (t) => {
  const silent = () => new Steps().type('Hello').voice(true).pass(300).voice(false);
  const owed = silent().job('audible');
  t.strictSame(owed.took('pause', 'resume'), ['pause'], 'nobody knows yet what it was');
  t.strictSame(owed.final('').took('resume', 'state'), ['resume goesOn', 'state speaking']);
  t.strictSame(silent().final('').job('audible').took('pause', 'resume'), [], 'it was nothing');
});

t.test('a ready answer waits through a backchannel, and at most a minute for a sound', async (t) => {
  const held = () => new Steps().type('Hello').voice(true).job('audible');
  const holds = (steps: Steps) => steps.took('pause', 'resume');
  t.strictSame(holds(held().guess('yes okay right').pass(1000)), ['pause'], 'a guess settles nothing');
  t.strictSame(holds(held().pass(60_000)), ['pause', 'resume goesOn'], 'a sound');
  t.strictSame(holds(held().voice(false).pass(62_000)), ['pause', 'resume goesOn'], 'a missing transcript');
});

t.test('a backchannel before an endless sound is recorded, and the agent resumes', async (t) => {
  /** The agreement is known once the sound has begun. */
  const agrees = (steps: Steps) => steps.voice(true).final('okay', 1);
  const unheard = new Steps().answering().voice(true).voice(false).job('ended').type('Again.');
  const speaking = new Steps().answering().voice(true).voice(false);
  for (const steps of [agrees(unheard).job('audible'), agrees(speaking)]) {
    steps.took();
    t.strictSame(steps.pass(60_000).took('resume', 'message', 'cancel'), [
      'message okay later backchannel',
      'resume goesOn',
    ]);
  }
});

t.test('with drafts, an answer to words that interrupt is drafted at once', async (t) => {
  const steps = new Steps({ drafts: true }).answering().say('Lamps please.');
  t.strictSame(steps.took('cancel', 'reply'), [
    'reply 1 turn aloud',
    'cancel 1 words',
    'reply 2 turn aloud Lamps please.',
  ]);
});

t.test(
  'what discards a draft cancels it while it runs, and cancels nothing once the draft is over',
  async (t) => {
    const drafted = () => new Steps({ drafts: true }).say('I need a room.');
    const alive = { pending: drafted, ready: () => drafted().job('audible') };
    const over = { broken: () => drafted().job('failed'), empty: () => drafted().job('ended') };
    const discards: Readonly<Record<string, (steps: Steps) => Steps>> = {
      voice: (steps) => steps.voice(true),
      message: (steps) => steps.type('Two rooms.'),
      client: (steps) => steps.send({ type: 'interrupt' }),
    };
    for (const [by, discard] of Object.entries(discards)) {
      for (const [name, begin] of Object.entries(alive))
        t.strictSame(discard(begin()).took('cancel'), [`cancel 1 ${by}`], `${name}: ${by}`);
      for (const [name, begin] of Object.entries(over))
        t.strictSame(discard(begin()).took('cancel'), [], `${name}: ${by}`);
      for (const begin of [...Object.values(alive), ...Object.values(over)])
        t.equal(
          discard(begin()).pass(5000).took('sure', 'excuse').length,
          0,
          'and its words are answered anew',
        );
    }
    t.strictSame(drafted().voice(false).took('cancel'), [], 'silence discards none');
    t.strictSame(
      over.broken().voice(false).pass(STATEMENT_MS).took('excuse'),
      ['excuse 2 aloud answer'],
      'nor one that failed',
    );
  },
);

t.test('what was owed before a draft that comes to nothing is owed still', async (t) => {
  const foreseen = (steps: Steps, text: string): Steps => steps.send({ type: 'foreseen', span: 1, text });
  const owing = () => new Steps({ drafts: true }).type('Hello').voice(true).guess('but I also want');
  const cutOff = () =>
    new Steps({ drafts: true }).answering().voice(true).guess('I want tea').guess('I want tea');
  const ends: Readonly<Record<string, (steps: Steps) => Steps>> = {
    'the voice goes on': (steps) => foreseen(steps, '').voice(false).final('').pass(5000),
    'the final transcript has no words': (steps) => steps.voice(false).final('').pass(5000),
    'the voice never ends': (steps) => steps.guess('...').pass(70_000),
  };
  for (const [what, end] of Object.entries(ends))
    for (const [cause, begin] of Object.entries({ turn: owing, continue: cutOff })) {
      const drafted = foreseen(begin().guess('okay'), 'okay');
      t.equal(drafted.took('reply').at(-1), 'reply 2 turn aloud okay', 'a draft');
      t.strictSame(end(drafted).took('reply'), [`reply 3 ${cause} aloud`], `${what}: ${cause}`);
    }
  const interrupted = foreseen(owing().guess('okay'), 'okay').send({ type: 'interrupt' });
  interrupted.took();
  t.strictSame(interrupted.voice(false).final('').pass(5000).took('reply'), [], 'on purpose: nothing is');
});

t.test('a draft without words leaves its turn in the record, unanswered', async (t) => {
  const steps = new Steps({ drafts: true }).say('I need a room.').job('ended').pass(5000);
  t.strictSame(steps.took('reply', 'sure', 'message', 'excuse'), [
    'reply 1 turn aloud I need a room.',
    'message I need a room.',
  ]);
});

t.test(
  'when a turn ends, a ready draft is spoken at once, and for one that is not ready the agent thinks',
  async (t) => {
    const drafted = () => new Steps({ drafts: true }).say('I need a room.');
    const end = (steps: Steps): string[] => {
      steps.took();
      return steps.pass(STATEMENT_MS).took('pause', 'resume', 'sure', 'state');
    };
    t.strictSame(end(drafted()), ['sure 1', 'state thinking']);
    t.strictSame(end(drafted().job('audible')), ['resume', 'sure 1', 'state speaking']);
  },
);
