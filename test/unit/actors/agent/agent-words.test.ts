/**
 * What the client and the record are told, event by event: who has the floor, the user's words as they become known, and
 * which of them are one message.
 */
import t from '../../../fixtures/tap.js';
import type { AgentSettings } from '../../../../actors/agent/settings.js';
import { TIMES } from '../../../../actors/agent/times.js';
import { STATEMENT_MS, Steps } from '../../../fixtures/actors/agent-steps.js';

t.test('the client is told whether the agent listens, thinks or speaks', async (t) => {
  const steps = new Steps();
  const states = (after: Steps): string[] => after.took('state');
  t.strictSame(states(steps), ['state listening']);
  t.strictSame(states(steps.type('Count.')), ['state thinking']);
  t.strictSame(states(steps.job('audible')), ['state speaking']);
  t.strictSame(states(steps.job('ended')), ['state listening']);
  steps.type('Again.').voice(true).took();
  t.strictSame(states(steps.guess('but I also want')), ['state listening'], 'the answer is withdrawn');
  t.strictSame(states(steps.voice(false).final('').pass(1350)), ['state thinking'], 'it is asked for again');
  steps.job('audible').pass(1000).voice(true).guess('stop it now').took();
  t.strictSame(states(steps.guess('stop it now')), ['state listening'], 'the agent is broken off');
  t.strictSame(states(steps.voice(false).final('').pass(1350)), ['state thinking'], 'it goes on');
});

t.test('the end of a pause tells whether the agent goes on or something else follows', async (t) => {
  const held = () => new Steps().answering().voice(true).pass(300);
  const ends = (steps: Steps) => steps.took('pause', 'resume');
  t.strictSame(ends(held().voice(false).final('')), ['pause', 'resume goesOn'], 'a cough');
  t.strictSame(ends(held().voice(false).final('Stop.')), ['pause', 'resume'], 'a command');
  t.strictSame(ends(held().type('Stop.')), ['pause', 'resume'], 'a typed message');
  t.strictSame(ends(held().job('ended')), ['pause', 'resume'], 'its end');
});

t.test('words are shown as they become known, then as final, and then are a message', async (t) => {
  const steps = new Steps();
  const shown = (): string[] => steps.took('words', 'endOfTurn', 'message');
  steps.voice(true).guess('').guess('I').guess('I want').guess('...');
  t.strictSame(shown(), ['words I', 'words I want'], 'a sound without a word shows nothing');
  steps.voice(false).final('I want to').pass(600).voice(true).guess('drink');
  t.strictSame(shown(), ['words I want to', 'words I want to drink'], 'behind those before the pause');
  steps.voice(false).final('drink tea.').pass(5000);
  t.strictSame(shown(), [
    'words I want to drink tea.',
    'endOfTurn tables likely 1150',
    'words I want to drink tea. final',
    'message I want to drink tea.',
  ]);
});

t.test(
  'shown words that turn out to be none are taken back once, when no transcript is awaited any more',
  async (t) => {
    const steps = new Steps().voice(true).guess('right').voice(false).pass(62_000);
    t.strictSame(steps.took('words'), ['words right'], 'they may still come');
    t.strictSame(steps.final('').took('words'), ['words  final']);
    t.strictSame(steps.say('').pass(5000).took('words'), [], 'nothing was shown');
    const known = new Steps().voice(true).guess('right').voice(false).final('').pass(5000);
    t.strictSame(known.took('words'), ['words right', 'words  final']);
    const noise = new Steps().say('...').pass(5000).voice(true).guess('Hello');
    t.strictSame(noise.took('words'), ['words Hello'], 'nothing of an earlier sound');
    const typed = new Steps().say('Hello').pass(5000).say('').pass(5000);
    t.strictSame(typed.took('words'), ['words Hello', 'words Hello final'], 'what is a message stays');
  },
);

/** What happens between two halves of a sentence, and whether they are one message. */
const BETWEEN: readonly (readonly [what: string, joins: boolean, between: (steps: Steps) => Steps])[] = [
  ['nothing', true, (steps) => steps],
  ['an answer that has just begun', true, (steps) => steps.job('audible').pass(600)],
  ['an answer that failed', true, (steps) => steps.job('failed')],
  ['an answer that was heard', false, (steps) => steps.job('audible').pass(700)],
  [
    'an answer that was heard behind a cough',
    false,
    (steps) => steps.job('audible').pass(100).say('').pass(2000),
  ],
  ['an answer that is over', false, (steps) => steps.job('audible').pass(100).job('ended')],
  ['an interruption', false, (steps) => steps.send({ type: 'interrupt' })],
  [
    'an interruption of an answer that was withdrawn',
    false,
    (steps) =>
      steps
        .voice(true)
        .guess('but I also want')
        .send({ type: 'interrupt' })
        .voice(false)
        .final('')
        .pass(2000),
  ],
  ['a typed message', false, (steps) => steps.type('for two')],
  ['a tool', false, (steps) => steps.job('acted')],
  ['a tool behind the first words', false, (steps) => steps.job('audible').job('acted')],
  ['an excuse that failed', false, (steps) => steps.job('failed').job('failed')],
];

t.test('two halves of a sentence are one message unless something came between them', async (t) => {
  for (const fills of [true, false])
    for (const [what, joins, between] of BETWEEN) {
      const steps = new Steps({ fills }).say('Book a table.').pass(STATEMENT_MS);
      t.strictSame(steps.took('message'), ['message Book a table.']);
      t.equal(
        between(steps).took('closeTurn').length,
        joins ? 0 : 1,
        `${what}: the turn is told to be closed`,
      );
      const messages = steps.say('For two people please.').pass(5000).took('message');
      const wanted = joins
        ? 'message Book a table. For two people please.'
        : 'message For two people please.';
      t.equal(messages.at(-1), wanted, what);
    }
});

t.test(
  'a backchannel and a question while the agent speaks are each a message apart from its answer',
  async (t) => {
    const said = (text: string) =>
      new Steps({ sensitivity: 'low' }).answering().say(text).pass(2000).took('message', 'words').slice(-2);
    t.strictSame(said('okay'), ['words okay final', 'message okay later backchannel']);
    t.strictSame(said('In a minute.'), ['words In a minute. final', 'message In a minute. later']);
  },
);

t.test('an uninterruptible agent answers when it has finished, except to a backchannel', async (t) => {
  const hears = (text: string) =>
    new Steps({ interruptible: false })
      .answering()
      .say(text)
      .pass(2000)
      .job('ended')
      .took('message', 'reply', 'cancel')
      .slice(2);
  for (const text of ['Two red lamps please.', 'Stop.'])
    t.strictSame(hears(text), [`message ${text} later`, 'reply 2 turn aloud'], text);
  t.strictSame(hears('okay'), ['message okay later backchannel']);
});

t.test('when a call ends, final words are in its record, and partial transcripts are not', async (t) => {
  const ends = (steps: Steps) => steps.send({ type: 'left' }).took('words', 'message', 'end').slice(-3);
  t.strictSame(new Steps().send({ type: 'end', reason: 'transferred' }).took('words', 'message', 'end'), [
    'end transferred',
  ]);
  t.strictSame(
    new Steps().say('Cancel that.').send({ type: 'end', reason: 'transferred' }).took('message', 'end'),
    ['message Cancel that. later', 'end transferred'],
  );
  t.strictSame(ends(new Steps().say('Cancel that.')), [
    'words Cancel that. final',
    'message Cancel that. later',
    'end user_hangup',
  ]);
  t.strictSame(
    ends(new Steps().say('Book a table.').pass(STATEMENT_MS).say('And a taxi.')),
    ['words And a taxi. final', 'message Book a table. And a taxi.', 'end user_hangup'],
    'as part of their turn',
  );
  t.strictSame(ends(new Steps().answering().say('okay')), [
    'words okay final',
    'message okay later backchannel',
    'end user_hangup',
  ]);
  const unsaid = new Steps().voice(true).guess('Cancel').voice(false);
  t.strictSame(unsaid.send({ type: 'left' }).took('message', 'end'), ['end user_hangup'], 'a guess is none');
});

t.test('when a call ends, a voice without words is unclear in its record', async (t) => {
  const unclear = new Steps().voice(true).pass(900).voice(false).final('').send({ type: 'left' });
  t.strictSame(unclear.took('message', 'end'), ['message (unclear) later', 'end user_hangup']);
  const cough = new Steps().voice(true).pass(100).voice(false).final('').send({ type: 'left' });
  t.strictSame(cough.took('message', 'end'), ['end user_hangup']);
});

t.test('when a call ends, the voices whose transcripts are owed are told', async (t) => {
  const owed = (steps: Steps): number => steps.send({ type: 'left' }).took('owed').length;
  t.equal(owed(new Steps().voice(true).pass(500).voice(false)), 1, 'one that has ended');
  t.equal(owed(new Steps().voice(true).pass(500)), 1, 'one that goes on');
  t.equal(owed(new Steps().say('Cancel that.')), 0, 'none whose words are known');
  t.equal(owed(new Steps().answering().voice(true).pass(500)), 0, 'none over the agent');
  const fan = new Steps().voice(true);
  for (let partial = 0; partial < 3; partial += 1) fan.pass(700).guess('');
  t.equal(owed(fan), 0, 'no noise');
});

t.test('a partial transcript withdraws a spoken answer to a turn, and no other job', async (t) => {
  const hears = (steps: Steps) => steps.voice(true).guess('but I also want');
  t.strictSame(hears(new Steps().type('Hello')).took('cancel'), ['cancel 1 words']);
  for (const [what, begin] of [
    ['one in writing', () => new Steps().type('Hello', false)],
    ['the first message', () => new Steps({ opening: { mode: 'prompt' } })],
    ['an excuse', () => new Steps().type('Hello').job('failed')],
  ] as const) {
    const steps = hears(begin());
    t.strictSame(steps.took('cancel'), [], what);
    const { lastJob } = steps;
    t.strictSame(
      steps.voice(false).final('but I also want tea.').took('cancel'),
      [`cancel ${lastJob} words`],
      `${what}: words that are certain do`,
    );
  }
  for (const guess of ['yes okay right', '', 'right', 'lamps'])
    t.strictSame(new Steps().type('Hello').voice(true).guess(guess).took('cancel'), [], guess);
});

t.test(
  'a transcript of words before an endless sound is answered as soon as it comes, over the sound',
  async (t) => {
    const steps = new Steps().voice(true).pass(500).voice(false).pass(1000).voice(true).pass(60_000);
    t.strictSame(steps.took('message', 'reply'), []);
    steps.final('What time is it?', 1);
    t.strictSame(steps.took('message', 'reply'), ['message What time is it?', 'reply 1 turn aloud']);
    t.strictSame(steps.job('audible').took('pause', 'state'), ['state speaking'], 'over the sound');
  },
);

t.test('an empty transcript during an endless sound does not delay the next message', async (t) => {
  const steps = new Steps().voice(true).pass(500).voice(false).pass(500).voice(true).pass(60_000);
  steps.final('', 1).voice(false).final('What time is it?', 2).pass(250);
  t.strictSame(steps.took('message'), ['message What time is it?']);
});

t.test('until somebody has joined, nothing that comes starts the conversation', async (t) => {
  const steps = new Steps({ opening: { mode: 'fixed', text: 'Hi' } }, false);
  steps.voice(true).type('Hello').send({ type: 'news' }).pass(700_000);
  t.strictSame(steps.took(), []);
  t.strictSame(steps.send({ type: 'connected' }).took('say'), ['say 1 Hi']);
  const never = new Steps({}, false).send({ type: 'left' }).send({ type: 'connected' });
  t.strictSame(never.took(), ['end user_hangup']);
});

t.test('a voice or a silence that is reported twice begins nothing', async (t) => {
  const spans = (steps: Steps): string[] => steps.took('beginSpan', 'transcribe');
  t.strictSame(spans(new Steps().voice(false)), []);
  t.strictSame(spans(new Steps().voice(true).voice(true)), ['beginSpan 1']);
  t.strictSame(spans(new Steps().say('I want to').voice(false)), ['beginSpan 1', 'transcribe 1']);
});

t.test('transcripts that nobody awaits, and partial ones of what is over, change nothing', async (t) => {
  const settled = () => new Steps().type('Hello').say('Hello').pass(5000);
  const owed = () => new Steps().voice(true).pass(300).voice(false);
  const cases: readonly (readonly [when: string, steps: Steps, late: (steps: Steps) => Steps])[] = [
    ['in the silence', settled(), (steps) => steps.final('stale', 1).guess('stale', 1)],
    ['as the user speaks', settled().voice(true), (steps) => steps.final('stale', 1).guess('stale', 1)],
    ['in a long sound', settled().voice(true).pass(61_000), (steps) => steps.final('stale', 1)],
    ['behind the voice', settled().voice(true).voice(false), (steps) => steps.final('stale', 1)],
    ['a guess behind the voice', owed(), (steps) => steps.guess('Well')],
    ['a guess behind the turn', owed().pass(62_000), (steps) => steps.guess('Well')],
  ];
  for (const [when, steps, late] of cases) {
    steps.took();
    t.strictSame(late(steps).took(), [], when);
  }
});

t.test('words in what was taken for noise pause an agent that sounds do not pause', async (t) => {
  const noise = () => new Steps({ sensitivity: 'low' }).answering().voice(true).guess('').guess('').guess('');
  const shown = (steps: Steps) => steps.took('pause', 'words', 'cancel');
  t.strictSame(shown(noise().guess('I want another room now')), ['words I want another room now', 'pause']);
  t.strictSame(shown(noise().guess('I want another room now').guess('I want another room now')).slice(-1), [
    'cancel 1 words',
  ]);
});

/** The user has said something, and their recogniser is slow. */
const unheard = (settings: Partial<AgentSettings> = {}): Steps =>
  new Steps(settings).voice(true).pass(500).voice(false);

t.test(
  'while the words of a silent user are not known, fillers are said, each a while after the one before',
  async (t) => {
    const steps = unheard();
    t.strictSame(steps.pass(1700).took('bridge'), []);
    t.strictSame(steps.pass(200).took('bridge'), ['bridge 1'], 'after two seconds');
    t.strictSame(
      steps
        .pass(1000)
        .job('filled')
        .pass(TIMES.fillerAgainMs - 100)
        .took('bridge'),
      [],
    );
    t.strictSame(steps.pass(200).took('bridge'), ['bridge 2'], 'again');
    t.strictSame(unheard({ fills: false }).pass(20_000).took('bridge'), [], 'not where fillers are off');
    t.strictSame(unheard().final('Hi.').pass(20_000).took('bridge'), [], 'nor once the words are known');
    const gone = unheard().send({ type: 'disconnected' }).pass(5000);
    t.strictSame(gone.took('bridge'), [], 'nor to nobody');
  },
);

t.test(
  'words that are known at last are answered behind the filler, and those that are lost excused',
  async (t) => {
    const answered = unheard().pass(2000).final('What is your name?').pass(1000).job('filled', 1).pass(2000);
    t.strictSame(answered.took('bridge', 'cancel', 'reply'), ['bridge 1', 'reply 2 turn aloud']);
    t.strictSame(answered.pass(2000).took('fill'), [], 'no filler right after another one');
    t.strictSame(answered.pass(7000).took('fill'), ['fill 2']);
    const lost = unheard()
      .pass(2000)
      .send({ type: 'transcript', span: 1, text: '', final: true, lost: true });
    t.match(lost.pass(3000).took('excuse').at(-1), /understood$/);
  },
);

t.test('a filler stops when the user speaks on, and is no answer that they interrupt', async (t) => {
  const steps = unheard().pass(2000).voice(true);
  t.strictSame(steps.took('bridge', 'cancel', 'reply'), ['bridge 1', 'cancel 1 voice']);
  steps.final('I would like', 1).pass(500).voice(false).final('a table.').pass(3000);
  t.strictSame(steps.took('message', 'reply'), ['message I would like a table.', 'reply 2 turn aloud']);
});
