/** Turns: how complete a transcript looks, and what the user's voice does to an agent that speaks (actors/agent/turns). */
import t from 'tap';
import { completenessOf, delaysOf, ENDPOINTING_MS } from '../../actors/agent/turns/endpointing.js';
import { overlapOf, verdictOf } from '../../actors/agent/turns/interruption.js';
import { afterPause, afterUnbroken, PACE_BOUNDS, USUAL_PACE } from '../../actors/agent/turns/pace.js';

t.test('what a transcript looks like decides how long the silence must be', async (t) => {
  const looks: [string, string, string][] = [
    ['What time is it?', 'en', 'complete'],
    ['Yes.', 'en', 'complete'],
    ['A table for two please', 'en', 'complete'],
    ['I would like to go.', 'en', 'likely'],
    ['I would like to go', 'en', 'open'],
    ['I would like to', 'en', 'unfinished'],
    ['I would like the.', 'en', 'unfinished'],
    ['My number is, um.', 'en', 'unfinished'],
    ['Well...', 'en', 'unfinished'],
    ['Tomorrow', 'en', 'open'],
    ['Ich möchte und', 'de', 'unfinished'],
    ['明日は', 'ja', 'unfinished'],
    ['明日行きます。', 'ja', 'complete'],
    ['明日行きます', 'ja', 'complete'],
    ['그리고', 'ko', 'unfinished'],
    [' Tomorrow. ', 'en', 'likely'],
    ['', 'en', 'open'],
    ['TO', 'en', 'unfinished'],
    ['I would like  the.  !', 'en', 'unfinished'],
    ['To go? Tomorrow', 'en', 'open'],
    ['Go. Tomorrow', 'en', 'open'],
    ['the', 'xx', 'open'],
    ['the.', 'xx', 'likely'],
    ['un', 'en', 'open'],
  ];
  for (const [text, language, look] of looks) t.equal(completenessOf(text, language), look, text);
});

t.test('words go before punctuation, which recognisers put behind everything', async (t) => {
  for (const text of ['Which one is the?', 'I want the!', 'My.'])
    t.equal(completenessOf(text, 'en'), 'unfinished', text);
  t.equal(completenessOf('What is it for?', 'en'), 'complete', 'a question may end with a preposition');
});

t.test(
  'a full stop makes a turn likely to be over, a question or an exclamation mark complete',
  async (t) => {
    const ends = {
      '.': 'likely',
      '。': 'likely',
      '?': 'complete',
      '？': 'complete',
      '!': 'complete',
      '！': 'complete',
    };
    for (const [mark, look] of Object.entries(ends))
      for (const quote of ['', '"', "'", '”', '’', ')', ']', ')"'])
        t.equal(completenessOf(`I go${mark}${quote}`, 'en'), look, `${mark}${quote}`);
  },
);

t.test('dots, commas and dashes at the end tell that more comes', async (t) => {
  for (const end of ['...', '…', ',', ';', ':', '、', '，', '—', '-'])
    t.equal(completenessOf(`Tomorrow${end}`, 'en'), 'unfinished', end);
});

/** Of each list one that is first, one in the middle and one that is last, or all of them. */
const LAST = {
  en: {
    dangling: ['a', 'the', 'my', 'um', 'into'],
    doubtful: ['it', 'for', 'well', 'ten'],
    closing: ['please', 'okay'],
  },
  es: {
    dangling: ['el', 'porque', 'cuyo'],
    doubtful: ['la', 'pues', 'nueve'],
    closing: ['gracias', 'favor'],
  },
  fr: { dangling: ['le', 'à'], doubtful: ['la', 'donc', 'neuf'], closing: ['merci', 'plaît'] },
  de: { dangling: ['und', 'für', 'öh'], doubtful: ['die', 'also', 'neun'], closing: ['danke', 'genau'] },
  ja: {
    dangling: ['を', 'が', 'は', 'に', 'と', 'で', 'えっと', 'あの'],
    doubtful: ['の', 'けど', 'から'],
    closing: ['はい'],
  },
  zh: {
    dangling: ['和', '但是', '因为', '如果', '那个'],
    doubtful: ['的', '嗯', '就是'],
    closing: ['谢谢', '好的'],
  },
  ko: {
    dangling: ['그리고', '하지만', '음', '그'],
    doubtful: ['네', '구'],
    closing: ['감사합니다', '주세요'],
  },
};

for (const [language, { dangling, doubtful, closing }] of Object.entries(LAST))
  t.test(`the last word says more than the full stop behind it: ${language}`, async (t) => {
    const isParted = language !== 'ja' && language !== 'zh';
    const sentence = (word: string, end: string): string =>
      isParted ? `Xx ${word}${end}` : `明日${word}${end}`;
    const stop = isParted ? '.' : '。';
    const look = (word: string, end: string): string => completenessOf(sentence(word, end), language);
    for (const word of dangling) t.equal(look(word, stop), 'unfinished', word);
    for (const word of doubtful) {
      t.equal(look(word, stop), 'open', word);
      t.equal(look(word, ''), 'unfinished', `${word} without a full stop`);
    }
    for (const word of closing) t.equal(look(word, ''), 'complete', word);
    if (isParted)
      for (const word of [...dangling, ...doubtful])
        t.equal(completenessOf(`Xx${word}.`, language), 'likely', `part of a word: ${word}`);
  });

t.test('digits are dictated in groups: the end stays open', async (t) => {
  t.equal(completenessOf('It is 4 5 6.', 'en'), 'open');
  t.equal(completenessOf('It is 4 5 6', 'en'), 'unfinished');
  t.equal(completenessOf('Is it 456?', 'en'), 'complete');
});

t.test('the pace of a user stretches or shortens every delay, between bounds', async (t) => {
  for (const eagerness of ['eager', 'balanced', 'relaxed'] as const) {
    const { usualMs, least, most } = PACE_BOUNDS[eagerness];
    t.same(delaysOf(eagerness, USUAL_PACE), ENDPOINTING_MS[eagerness], 'as in the table at first');
    const paceAfter = (times: number, pause: (pace: number) => number): number =>
      Array.from({ length: times }).reduce<number>(pause, USUAL_PACE);
    const slow = paceAfter(20, (pace) => afterPause(pace, eagerness, 60_000));
    const quick = paceAfter(60, afterUnbroken);
    const scaled = (part: number) => Math.round(ENDPOINTING_MS[eagerness].open * part);
    t.equal(delaysOf(eagerness, slow).open, scaled(most));
    t.equal(delaysOf(eagerness, quick).open, scaled(least));
    t.equal(afterPause(USUAL_PACE, eagerness, usualMs), USUAL_PACE, 'the usual pause changes nothing');
    t.ok(
      afterPause(USUAL_PACE, eagerness, 2 * usualMs) - 1 > 1 - afterPause(USUAL_PACE, eagerness, 0),
      'longer is learnt faster',
    );
  }
});

t.test('overlap classes and what each sensitivity makes of them', async (t) => {
  t.equal(overlapOf('...'), 'noise');
  t.equal(overlapOf('Uh-huh.'), 'backchannel');
  t.equal(overlapOf('Yeah, okay.'), 'backchannel');
  t.equal(overlapOf('Yeah, but no.'), 'speech');
  t.equal(verdictOf('tomorrow', 'low', true), 'later');
  t.equal(verdictOf('tomorrow', 'balanced', false), undefined);
  t.equal(verdictOf('tomorrow', 'balanced', true), 'interrupt');
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

t.test('words of agreement in every language are a backchannel', async (t) => {
  const agreement = ["That's it.", 'Got it', 'great', 'Of course', "You're good", 'sí claro', 'voilà'];
  for (const text of [
    ...agreement,
    'ach so',
    'genau',
    'うん',
    'はい',
    '对',
    '好的',
    '네',
    '맞아요',
    'Mm-hm.',
  ])
    t.equal(overlapOf(text), 'backchannel', text);
});

t.test('the last word of somebody who still speaks does not count', async (t) => {
  t.equal(overlapOf('yes stop', false), 'backchannel');
  t.equal(overlapOf('yes stop'), 'speech');
  t.equal(overlapOf('stop', false), 'noise');
});

t.test('as many words interrupt at once as the sensitivity wants, fewer only at the end', async (t) => {
  const enough: [sensitivity: 'low' | 'balanced' | 'high', words: number, atEnd: string][] = [
    ['low', 4, 'later'],
    ['balanced', 2, 'interrupt'],
    ['high', 1, 'interrupt'],
  ];
  for (const [sensitivity, words, atEnd] of enough) {
    const said = (count: number): string => Array.from({ length: count }, () => 'rooms').join(' ');
    t.equal(verdictOf(`${said(words)} and`, sensitivity, false), 'interrupt', sensitivity);
    t.equal(verdictOf(said(words), sensitivity, false), undefined, 'the last one may be half a word');
    t.equal(verdictOf(said(words), sensitivity, true), 'interrupt');
    if (words > 1) t.equal(verdictOf(said(words - 1), sensitivity, true), atEnd);
  }
});

t.test('agreement interrupts only an agent of high sensitivity, once it has ended; noise none', async (t) => {
  for (const sensitivity of ['low', 'balanced', 'high'] as const) {
    t.equal(verdictOf('yes', sensitivity, true), sensitivity === 'high' ? 'interrupt' : 'ignore');
    t.equal(verdictOf('yes right', sensitivity, false), undefined);
    t.equal(verdictOf('', sensitivity, true), 'ignore');
  }
});

t.test('a command is one by itself, with what people put around it, and interrupts at once', async (t) => {
  for (const text of [
    'Stop.',
    'No, no.',
    'Wait a second, please.',
    'Oh, hold on.',
    'Arrêtez, s’il vous plaît !',
    '等一下，别说了',
  ])
    t.equal(overlapOf(text), 'command', text);
  for (const text of ['Nothing', 'Stop the music', 'no idea', 'non-stop'])
    t.not(overlapOf(text), 'command', text);
  for (const sensitivity of ['low', 'balanced', 'high'] as const) {
    t.equal(verdictOf('stop', sensitivity, true), 'interrupt', sensitivity);
    t.equal(verdictOf('stop it now', sensitivity, false), 'interrupt', `${sensitivity}: while it lasts`);
  }
});
