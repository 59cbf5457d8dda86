/** Endpointing adapts to the user: pauses, full stops, and dictated digits, on the simulated clock. */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../../../contracts/places.js';
import t from '../../../../fixtures/tap.js';
import {
  ANSWERING_LIKELY_MS,
  completenessOf,
  delaysOf,
  ENDPOINTING_MS,
  FIRST_LIKELY_MS,
  INTERRUPTING_LIKELY_MS,
  isQuestion,
} from '../../../../../actors/agent/turns/endpointing.js';
import { afterPause, afterUnbroken, factorOf, USUAL_PACE } from '../../../../../actors/agent/turns/pace.js';
import { Steps } from '../../../../fixtures/actors/agent-steps.js';
import { effectsOf, Scene } from '../../../../fixtures/actors/scene.js';

/** Whether a pause of that length within a sentence ends the turn. */
const isCut = (scene: Scene, ms: number): boolean => {
  const effects = effectsOf(scene);
  scene.say('I need a room.').pause(ms);
  const cut = effects.some(({ type }) => type === 'message');
  scene.say('On the second floor.').pause(10_000);
  return cut;
};

t.test('endpointing waits longer for a user who has paused within turns', async (t) => {
  for (const eagerness of ['eager', 'balanced', 'relaxed'] as const) {
    const scene = new Scene({ eagerness }, { thinkMs: 5000 });
    // Includes the silence that voice activity detection takes, and the time until it notices a voice.
    const ms = 250 + FIRST_LIKELY_MS[eagerness] + 60;
    t.ok(isCut(scene, ms), `${eagerness}: the first time it is cut`);
    for (let turn = 0; turn < 4; turn += 1) isCut(scene, ms);
    t.notOk(isCut(scene, ms), `${eagerness}: later it is not`);
  }
});

t.test('endpointing waits less long for a user who never pauses within turns', async (t) => {
  const delay = (scene: Scene): number => {
    const end = scene.say('It was a room.').clock.now();
    const waited = scene.untilAgentSpeaks().clock.now() - end;
    scene.pause(6000);
    return waited;
  };
  const scene = new Scene();
  delay(scene);
  const first = delay(scene);
  for (let turn = 0; turn < 6; turn += 1) delay(scene);
  const later = delay(scene);
  t.ok(later < first, `${later} ms after ${first} ms`);
  t.ok(later > first - ENDPOINTING_MS.balanced.likely * 0.3, 'within its bound');
});

t.test('a question is answered sooner than a statement, and that sooner than an open end', async (t) => {
  const waited = (text: string): number => {
    const scene = new Scene().say(text, 1500);
    const end = scene.clock.now();
    return scene.untilAgentSpeaks().clock.now() - end;
  };
  const [question, statement, open] = [waited('Are you open?'), waited('I am old.'), waited('I want that.')];
  t.ok(question < statement && statement < open, `${question} < ${statement} < ${open}`);
});

t.test('a question mark after a word that wants another does not end the turn', async (t) => {
  for (const half of ['Can you tell me whether?', 'Are you open every?']) {
    const scene = new Scene().say(half).pause(1200).say('Sunday?').pause(4000);
    t.equal(scene.told[0], `user: ${half} Sunday?`);
  }
});

t.test('digits dictated in groups with pauses are one turn', async (t) => {
  const scene = new Scene().say('My number is 4 5 6.').pause(1000).say('7 8 9.').pause(4000);
  t.equal(scene.told[0], 'user: My number is 4 5 6. 7 8 9.');
});

t.test('a preposition at the end leaves a sentence unfinished only after some words', async (t) => {
  const KINDS = {
    unfinished: ['I am calling about.', 'We are looking for.', 'I would like to.', 'I come from'],
    open: ['Tell me what it is for.', 'There is nothing to worry about.', 'I know who it is from.'],
  } as const;
  for (const [kind, texts] of Object.entries(KINDS))
    for (const text of texts) t.equal(completenessOf(text, 'en'), kind, text);
});

/** Texts by language and by how complete they look. */
const ENDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  en: {
    complete: ['Two rooms, please.', 'Yes', 'Are you open?', 'He asked "when?"'],
    likely: ['It is cold.', ' It is cold. ', 'He said "It is cold."', 'Look out!', 'He said "Out!"'],
    open: [
      'I came home',
      'I think that.',
      'She said she would.',
      'We come at seven.',
      'It costs 45.',
      'Mr. Smith called',
      'Why? I came home',
      'Room 4 looks nice',
    ],
    unfinished: [
      'I want the',
      'I want the."',
      'I think that',
      'It costs 45',
      'Well...',
      'Then…',
      'Monday,',
      'It costs -',
    ],
  },
  es: {
    complete: ['Muchas gracias.'],
    likely: ['.'],
    open: ['Creo que son.'],
    unfinished: ['Quiero el.', 'Creo que son'],
  },
  fr: {
    complete: ['D’accord.', "D'accord"],
    open: ['Je veux ça'],
    unfinished: ['Je veux une.', 'Il y a deux'],
  },
  de: {
    complete: ['Ja, genau.'],
    likely: ['Es regnet.'],
    open: ['Das weiß ich nicht.'],
    unfinished: ['Ich komme und.', 'Ich habe'],
  },
  ja: {
    complete: ['予約をお願いします', 'そうです。', '何時ですか。', '空いていますか', '見ませんか。'],
    likely: ['雨が降る。'],
    open: ['私の。'],
    unfinished: ['部屋を', '部屋を。', '私の'],
  },
  zh: { complete: ['好的', '不是。'], open: ['我的。'], unfinished: ['因为', '我的'] },
  ko: {
    complete: ['감사합니다', '방이 있어요.', '몇 시입니까.'],
    open: ['방 하나'],
    unfinished: ['방이 그리고', '저는'],
  },
  xx: { complete: ['Yes?'], likely: ['I want the.'], open: ['I want the'] },
};

t.test('the last words and the last sign decide in each language how complete a turn is', async (t) => {
  for (const [language, kinds] of Object.entries(ENDS))
    for (const [kind, texts] of Object.entries(kinds))
      for (const text of texts) t.equal(completenessOf(text, language), kind, `${language}: ${text}`);
});

/** The usual pause of each eagerness, and the least and greatest factor by which a user's pace changes the delays. */
const PACES = {
  eager: { usualMs: 300, least: 0.7, most: 1.6 },
  balanced: { usualMs: 525, least: 0.78, most: 2.4 },
  relaxed: { usualMs: 1120, least: 0.8, most: 1.4 },
} as const;

t.test('the pace learns a longer pause at once, a shorter one slowly, and none most slowly', async (t) => {
  const rounded = (pace: number): number => Math.round(pace * 1000) / 1000;
  for (const eagerness of ['eager', 'balanced', 'relaxed'] as const) {
    const { usualMs, least, most } = PACES[eagerness];
    const learnt = (ms: number): number => rounded(afterPause(USUAL_PACE, eagerness, ms));
    t.equal(learnt(usualMs), 1, `${eagerness}: the usual pause teaches nothing`);
    t.equal(learnt(2 * usualMs), 1.7, `${eagerness}: twice as long`);
    t.equal(learnt(usualMs / 2), 0.95, `${eagerness}: half as long`);
    t.equal(learnt(100 * usualMs), 2.4, `${eagerness}: no more than three times as long`);
    t.strictSame(
      [0, 1, 9].map((pace) => factorOf(pace, eagerness)),
      [least, 1, most],
      `${eagerness}: the bounds`,
    );
  }
  t.equal(rounded(afterUnbroken(USUAL_PACE)), 0.92);
});

/** Sentences, by how complete they look. */
const SENTENCES = {
  complete: 'What time is it?',
  likely: 'I would like to go.',
  open: 'I would like to go',
  unfinished: 'I would like to go to the',
} as const;

t.test(
  'words that are known late end the turn at once if the silence was long enough for them',
  async (t) => {
    for (const eagerness of ['eager', 'balanced', 'relaxed'] as const)
      for (const kind of ['complete', 'likely', 'open', 'unfinished'] as const)
        for (const hearMs of [0, 90, 200, 300, 600, 800, 1000, 1300, 1900, 3000, 59_000]) {
          const steps = new Steps({ eagerness }).voice(true).pass(2000).voice(false);
          const silentAt = steps.clock.now();
          steps.pass(hearMs).final(SENTENCES[kind]);
          while (steps.took('endOfTurn').length === 0 && steps.clock.now() < silentAt + 60_000)
            steps.pass(10);
          const delays = delaysOf(eagerness, USUAL_PACE, { unknownPace: true });
          const wanted = Math.max(hearMs, delays[kind]);
          t.equal(steps.clock.now() - silentAt, wanted, `${eagerness}, ${kind}, known after ${hearMs} ms`);
        }
  },
);

t.test('a turn with a pause does not shorten the next delay, and one without it does', async (t) => {
  const next = (steps: Steps): string[] => {
    steps.pass(2000).job('audible').job('ended').took();
    return steps.say('It was cold.').pass(2000).took('endOfTurn');
  };
  t.strictSame(next(new Steps().say('It was a long day.')), ['endOfTurn tables likely 570']);
  const paused = new Steps().say('It').pass(525).say('was a long day.');
  t.strictSame(next(paused), ['endOfTurn tables likely 620'], 'the usual pause');
  t.strictSame(next(paused), ['endOfTurn tables likely 570'], 'the turn behind it had none');
  const joined = new Steps()
    .say('It was a long day.')
    .pass(FIRST_LIKELY_MS.balanced + 20)
    .say('Cold.');
  t.not(next(joined)[0], 'endOfTurn tables likely 570', 'a pause that was taken for the end');
});

/** The delay after which a statement ends the turn. */
const delayOf = (steps: Steps): string[] => steps.say('I moved to London.').pass(3000).took('endOfTurn');
const answered = (steps: Steps): Steps => {
  steps.pass(3000).job('audible').pass(1000).job('ended').took();
  return steps;
};

t.test('a first statement waits for a pause of 1.2 s, until a turn has shown the pace', async (t) => {
  t.strictSame(delayOf(new Steps()), ['endOfTurn tables likely 1150']);
  t.strictSame(delayOf(answered(new Steps().say('Hello.'))), ['endOfTurn tables likely 1150'], 'a greeting');
  t.strictSame(delayOf(answered(new Steps().say('Where is my order?'))), ['endOfTurn tables likely 570']);
  t.strictSame(delayOf(new Steps({ eagerness: 'eager' })), ['endOfTurn tables likely 330']);
  t.strictSame(delayOf(new Steps({ eagerness: 'relaxed' })), ['endOfTurn tables likely 1280']);
  const hesitant = new Steps().say('I').pass(1100).say('moved').pass(1100);
  t.strictSame(delayOf(hesitant), ['endOfTurn tables likely 1238'], 'who has paused for longer gets more');
});

t.test('a delay counts from the last sound: what the voice had faded has passed already', async (t) => {
  for (const [silentMs, ms] of [
    [undefined, 1150],
    [0, 1150],
    [256, 1150],
    [320, 1086],
    [352, 1054],
    [448, 1054],
    [2000, 1054],
  ] as const) {
    const steps = new Steps().voice(true).pass(500);
    const at = steps.clock.now();
    steps.send({ type: 'voice', active: false, at, ...(silentMs !== undefined && { silentMs }) });
    const end = steps.final('I moved to London.').pass(3000).took('endOfTurn');
    t.strictSame(end, [`endOfTurn tables likely ${ms}`], `${silentMs} ms of silence`);
  }
});

t.test('a pause counts from the last sound as well', async (t) => {
  const next = (silentMs: number): string | undefined => {
    const steps = new Steps().voice(true).pass(500);
    steps.send({ type: 'voice', active: false, at: steps.clock.now(), silentMs }).final('It');
    steps.pass(1100).say('was a long day.').pass(3000).job('audible').pass(1000).job('ended').took();
    return steps.say('It was cold.').pass(3000).took('endOfTurn')[0];
  };
  // 2.1 and 2.3 times the usual pause.
  t.strictSame([next(256), next(352)], ['endOfTurn tables likely 1095', 'endOfTurn tables likely 1175']);
});

t.test('a statement that interrupts the agent waits less, once the pace is known', async (t) => {
  const interrupting = (settings = {}): Steps =>
    answered(new Steps(settings).say('Where is my order?')).type('Count.').job('audible').pass(1000);
  t.strictSame(delayOf(interrupting()), [`endOfTurn tables likely ${Math.round(430 * 0.92)}`]);
  t.strictSame(delayOf(new Steps().type('Count.').job('audible').pass(1000)), [
    'endOfTurn tables likely 1150',
  ]);
  const later = interrupting().say('I moved.').pass(3000).job('audible').pass(1000).job('ended');
  later.took();
  t.strictSame(delayOf(later), [`endOfTurn tables likely ${Math.round(620 * 0.92 * 0.92)}`], 'not the next');
});

t.test('delays grow with what is left open, whatever the pace and the turn', async (t) => {
  for (const eagerness of ['eager', 'balanced', 'relaxed'] as const)
    for (const pace of [0, 0.8, 1, 1.5, 9])
      for (const facts of [{}, { unknownPace: true }, { interrupts: true }, { answers: true }]) {
        const { complete, likely, open, unfinished } = delaysOf(eagerness, pace, facts);
        t.ok(complete <= likely && likely <= open && open <= unfinished, `${eagerness}, ${pace}`);
      }
  for (const eagerness of ['eager', 'balanced', 'relaxed'] as const)
    t.ok(INTERRUPTING_LIKELY_MS[eagerness] < ENDPOINTING_MS[eagerness].likely);
});

/** Ends of turns in a call in which the agent has spoken, its last words being a question or not. */
function answerTo(isQuestion: boolean, words: string): string[] {
  const steps = new Steps().type('Hello.').job('audible').pass(1000);
  return steps
    .send({ type: 'asked', isQuestion, wants: [] })
    .job('ended')
    .say(words)
    .pass(3000)
    .took('endOfTurn');
}

t.test('an answer of a word or two to a question of the agent waits less', async (t) => {
  const SHORT = ['Tomorrow.', 'Tomorrow', 'On Monday.'];
  for (const words of SHORT)
    t.strictSame(answerTo(true, words), [`endOfTurn tables likely ${ANSWERING_LIKELY_MS.balanced}`], words);
  t.strictSame(answerTo(false, 'Tomorrow.'), ['endOfTurn tables likely 1150'], 'not after a statement');
  t.strictSame(answerTo(true, 'I moved to London.'), ['endOfTurn tables likely 1150'], 'not a sentence');
  t.strictSame(answerTo(true, 'Seven.'), ['endOfTurn tables open 1150'], 'not a number, which may go on');
  t.strictSame(answerTo(true, 'Yes.'), ['endOfTurn tables complete 230']);
});

t.test('echo of the agent is no pause of the user', async (t) => {
  const talking = (): Steps =>
    answered(new Steps().say('Where is my order?'))
      .say('I moved to London.')
      .pass(700)
      .job('audible')
      .pass(200);
  const echo = (steps: Steps, words: string): Steps => {
    steps.voice(true).pass(400).voice(false).pass(50);
    const event = { type: 'transcript', span: steps.lastSpan, text: words, final: true } as const;
    return steps.send(words === '' ? { ...event, echo: true } : event).pass(200);
  };
  const next = (steps: Steps): string[] => {
    steps.pass(3000).job('ended').took();
    return delayOf(steps);
  };
  const usual = `endOfTurn tables likely ${Math.round(620 * 0.92 * 0.92)}`;
  t.strictSame(next(echo(echo(talking(), ''), '')), [usual], 'whatever its own pauses');
  t.not(next(echo(talking(), 'and my parcel is lost'))[0], usual, 'but the user’s words show one');
});

/** Sentences with a pause where `|` stands; those of `judged` were not looked at while the tables were made. */
const FIRST_PAUSES = JSON.parse(
  readFileSync(new URL('test/fixtures/actors/first-pauses.json', CHECKOUT), 'utf8'),
) as Readonly<Record<'tuning' | 'judged', readonly string[]>>;

t.test(
  'most halves of sentences are not taken for whole ones, although a full stop stands behind them',
  async (t) => {
    for (const sentences of Object.values(FIRST_PAUSES)) {
      const halves = sentences.map((sentence) => sentence.split(' |')[0]!.replace(/[,.]?$/u, '.'));
      const cut = halves.filter((half) =>
        /complete|likely/u.test(completenessOf(half, 'en').replace('unfinished', '')),
      );
      t.ok(cut.length <= 5, `${cut.length} of ${halves.length}: ${cut.join(' ')}`);
    }
  },
);

t.test(
  'a first pause of 1 s is taken for the end in 3 of 30 sentences at most, and one of 1.2 s in 5',
  async (t) => {
    /** Silence before the end of a voice is told, and voice before its beginning is. */
    const [silentMs, noticedMs] = [256, 64];
    const delays = delaysOf('balanced', USUAL_PACE, { unknownPace: true });
    for (const [list, sentences] of Object.entries(FIRST_PAUSES)) {
      const halves = sentences.map((sentence) => sentence.split(' |')[0]!.replace(/[,.]?$/u, '.'));
      for (const [ms, most] of [
        [1000, 3],
        [1200, 5],
      ] as const) {
        const ends = (half: string): boolean =>
          silentMs + delays[completenessOf(half, 'en')] <= ms + noticedMs;
        const cut = halves.filter(ends);
        t.ok(cut.length <= most, `${list}, ${ms} ms: ${cut.length} of ${halves.length}`);
      }
    }
  },
);

t.test('a whole reply is complete, whatever sign stands behind it', async (t) => {
  const REPLIES = {
    en: ['No,', 'Sure,', 'Correct.', 'Of course,', 'Yes, please,'],
    de: ['Genau,'],
    fr: ['Bien sûr,'],
    es: ['Claro,'],
  };
  for (const [language, texts] of Object.entries(REPLIES))
    for (const text of texts) t.equal(completenessOf(text, language), 'complete', text);
  for (const text of ['Hi,', 'Hello.']) t.equal(completenessOf(text, 'en'), 'likely', text);
});

t.test('a whole reply at the end closes a turn', async (t) => {
  const CLOSED = {
    en: ['Okay, stop. That is more than I need. Thank you.', 'That is more than I need, thank you.'],
    de: ['Das reicht mir, vielen Dank.'],
    fr: ["C'est trop, merci beaucoup."],
    zh: ['够了，谢谢你。'],
  };
  for (const [language, texts] of Object.entries(CLOSED))
    for (const text of texts) t.equal(completenessOf(text, language), 'complete', text);
  t.equal(completenessOf('I would like to thank you.', 'en'), 'open', 'not as a part of a sentence');
});

t.test('a command is whole, with a full stop and without', async (t) => {
  for (const text of ['Wait', 'Wait.', 'Hold on', 'Hold on.', 'Stop'])
    t.equal(completenessOf(text, 'en'), 'likely', text);
});

t.test('a question of the agent ends in a question mark, whatever stands behind it', async (t) => {
  for (const text of ['Which day? ', 'Did he say "when?"', 'いつですか？'])
    t.equal(isQuestion(text), true, text);
  t.equal(isQuestion('Which day? Take your time.'), false);
});

t.test('a question whose object stands in front of it is complete', async (t) => {
  const ASKED = {
    en: ['Which documents do I need?', 'Do you know what I need?', 'How many would you like to ask?'],
    es: ['¿Qué documentos necesito?'],
    fr: ['Quels papiers je veux?'],
    de: ['Welche Unterlagen brauche ich?', 'Was möchten wir?'],
  };
  for (const [language, texts] of Object.entries(ASKED))
    for (const text of texts) t.equal(completenessOf(text, language), 'complete', text);
  for (const text of ['Can you tell me?', 'When I arrive I need?', 'What I need is?'])
    t.equal(completenessOf(text, 'en'), 'unfinished', text);
});

t.test('a question is complete by its words, though a full stop stands behind it', async (t) => {
  const ASKED = {
    en: [
      'Is there a discount for students.',
      'How many bags may I take.',
      'And when will the road be open again.',
      'Do I have to pay.',
    ],
    de: [
      'Gibt es einen Rabatt für Studenten.',
      'Wie lange dauert die Fahrt.',
      'Wann kann ich die Karten abholen.',
    ],
    es: ['Cuándo abre la oficina.', 'Por qué no funciona mi tarjeta.'],
    fr: [
      'Est-ce que le bus passe encore.',
      'Avez-vous une table pour ce soir.',
      'Comment va-t-on à la gare.',
    ],
  };
  for (const [language, texts] of Object.entries(ASKED))
    for (const text of texts) t.equal(completenessOf(text, language), 'complete', text);
  const OTHERS = {
    en: [
      'Have a nice day now.',
      'When I came home, it rained.',
      'What a lovely day today.',
      'Do I.',
      'Is there a discount for students',
    ],
    de: ['Das ist ein schöner Tag.', 'Haben wir gestern.'],
    es: ['Quiero una mesa para hoy.'],
    fr: ['Quand je suis rentré hier, il pleuvait.'],
  };
  for (const [language, texts] of Object.entries(OTHERS))
    for (const text of texts) t.not(completenessOf(text, language), 'complete', text);
  t.equal(completenessOf('Can you tell me.', 'en'), 'unfinished', 'what it asks for is missing');
});
