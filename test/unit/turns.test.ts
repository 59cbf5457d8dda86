/** Turns: how complete a transcript looks, and what the user's voice does to an agent that speaks (actors/agent/turns). */
import t from 'tap';
import { completenessOf } from '../../actors/agent/turns/endpointing.js';
import { overlapOf, verdictOf } from '../../actors/agent/turns/interruption.js';

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
    [' Tomorrow. ', 'en', 'complete'],
    ['', 'en', 'open'],
    ['TO', 'en', 'unfinished'],
    ['I would like  to.  !', 'en', 'unfinished'],
    ['To go? Tomorrow', 'en', 'open'],
    ['Go. Tomorrow', 'en', 'open'],
    ['One, two', 'en', 'open'],
    ['the', 'xx', 'open'],
    ['la', 'en', 'open'],
  ];
  for (const [text, language, look] of looks) t.equal(completenessOf(text, language), look, text);
});

t.test('a question is complete, whatever its last word', async (t) => {
  for (const text of ['Which one is it that you want to?', 'is that the？'])
    t.equal(completenessOf(text, 'en'), 'complete', text);
});

t.test('a sentence that ends is complete, also within quotes and brackets', async (t) => {
  for (const end of ['.', '!', '。', '！', '."', ".'", '.”', '.’', '.)', '.]', '.)"', '?"'])
    t.equal(completenessOf(`I go${end}`, 'en'), 'complete', end);
});

t.test('dots, commas and dashes at the end tell that more comes', async (t) => {
  for (const end of ['...', '…', ',', ';', ':', '、', '，', '—', '-'])
    t.equal(completenessOf(`Tomorrow${end}`, 'en'), 'unfinished', end);
});

/** One that is first, one in the middle and one that is last in its list, or all of them. */
const TRAILING = {
  en: ['a', 'the', 'am', 'my', 'um', 'well'],
  es: ['el', 'porque', 'pues'],
  fr: ['le', 'à', 'donc'],
  de: ['der', 'für', 'also'],
  ja: ['が', 'を', 'に', 'は', 'と', 'で', 'の', 'けど', 'から', 'えっと', 'あの'],
  zh: ['的', '和', '但是', '因为', '如果', '那个', '嗯', '就是'],
  ko: ['그리고', '하지만', '그래서', '음', '어', '그'],
};

for (const [language, words] of Object.entries(TRAILING))
  t.test(`words that a sentence hardly ends with: ${language}`, async (t) => {
    for (const word of words) {
      const isParted = language !== 'ja' && language !== 'zh';
      t.equal(completenessOf(isParted ? `Xx ${word}.` : `明日${word}。`, language), 'unfinished', word);
      if (isParted) t.equal(completenessOf(`Xx${word}`, language), 'open', `part of a word: ${word}`);
    }
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
    const said = (count: number): string => Array.from({ length: count }, () => 'stop').join(' ');
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
