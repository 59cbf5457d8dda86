/** Classes of words said while the agent speaks, and their effects: complete words, partial ones, and all of the lists (actors/agent/turns/interruption.ts). */
import t from '../../../../fixtures/tap.js';
import {
  interrupts,
  type Overlap,
  overlapOf,
  type OverlapVerdict,
  verdictOf,
  wordsOf,
} from '../../../../../actors/agent/turns/interruption.js';
import { AGREEMENT, COMMANDS, SOFTENERS } from '../../../../../actors/agent/turns/overlap-words.js';
import type { Sensitivity } from '../../../../../actors/agent/settings.js';
import type { Language } from '../../../../../contracts/speech/languages.js';

t.test('words that are all there are known by their class', async (t) => {
  const CLASSES: readonly (readonly [text: string, overlap: Overlap])[] = [
    ['', 'noise'],
    ['…', 'noise'],
    ['Mm-mm-hmm.', 'backchannel'],
    ['That’s right.', 'backchannel'],
    ['そうですね', 'backchannel'],
    ['Stop!', 'command'],
    ['Okay, please stop now.', 'command'],
    ['Please.', 'speech'],
    ['Stop the music.', 'speech'],
    ['Nothing.', 'speech'],
    ['Yes, but no.', 'speech'],
  ];
  for (const [text, overlap] of CLASSES) t.equal(overlapOf(text), overlap, text);
});

/** Words as recognisers write them, separated by vertical bars. */
const SAID: Readonly<Record<'backchannel' | 'command', Readonly<Record<Language, string>>>> = {
  backchannel: {
    en:
      'Yeah.|Yes, yes.|Yep.|Yup.|OK.|Okay, right.|Alright.|All right.|Sure.|Fine.|Exactly.|M. H. M.|Mm.|Hmm.|Uh-huh.|Um, hum.|Huh.|' +
      'Aha.|Ah.|Oh, I see.|Uh, yes.|Um...|Got it!|I understand.|Understood.|Interesting.|Really?|Go on.|Makes sense.|It makes sense.|' +
      'Cool, great.|Nice.|Wow!|True, true.|Indeed.|Perfect.|Good, very good.|Absolutely.|Definitely.|Of course.|That’s right.|' +
      "That is right.|You’re right.|That's true.|That makes sense.|That's fine.|That's it.",
    es: 'Sí, sí.|Claro.|Vale, vale.|Muy bien.|Ya, entiendo.|De acuerdo.|Exacto.|Perfecto.|¡Por supuesto!',
    fr: "Oui, oui.|Ouais.|D’accord.|Très bien.|Ah, je vois.|Je comprends.|C'est ça.|Tout à fait.|Ah bon ?",
    de: 'Ja, genau.|Alles klar.|Sehr gut.|Stimmt.|Ach so.|Ja, ich verstehe.|Richtig.|Natürlich.|In Ordnung.',
    ja: 'うん、うん。|はい。|ええ。|なるほど。|そうです。|そうですか。|そうそう。|わかりました。|確かに。',
    zh: '嗯嗯。|对对对。|好的。|是的。|没错。|明白了。|知道了。|可以。',
    ko: '네, 네.|예.|응.|그렇군요.|맞아요.|알겠습니다.|네, 좋아요.',
  },
  command: {
    en:
      'Stop.|Wait, wait!|No.|Nope.|Oh, hold on a second, please.|Hang on.|Halt!|Pause.|That, enough!|Quiet, please.|' +
      'Please be quiet now.|Shut up!|Excuse me.|Sorry, never mind.|Just a moment.|One second.|Okay, stop talking.|' +
      'Wait there for a minute.|Hey, stop it right now.|Um, one moment.|Well, uh, no.',
    es: 'Para, por favor.|Oye, para ya.|Alto ahí.|¡Basta!|Espere un momento.|Eh, perdón, un segundo.|Disculpe.|¡Cállate!',
    fr: 'Arrêtez, s’il vous plaît.|Attends !|Non, non.|Euh, un instant.|Tais-toi !|Ça suffit !|Excusez-moi.',
    de: 'Stopp, bitte.|Warte mal kurz.|Nein.|Moment mal.|Einen Augenblick, bitte.|Hör auf damit!|Ruhe!',
    ja: 'ちょっと待ってください。|もうやめて。|ストップ。|いいえ。|違います。|静かにしてください。|すみません。',
    zh: '停！|请等一下。|先停一下吧。|不对，不对。|别说了。|喂，等等。|稍等一下。|打住。',
    ko: '잠깐만요.|좀 멈춰 주세요.|그만해요.|그만하세요, 제발.|저기요, 잠시만요.|아니요.|조용히 해 주세요.',
  },
};

t.test('agreement and commands are told in every language, as they are said', async (t) => {
  for (const [overlap, languages] of Object.entries(SAID))
    for (const [language, texts] of Object.entries(languages))
      for (const text of texts.split('|')) t.equal(overlapOf(text), overlap, `${language}: ${text}`);
});

t.test('each phrase of the lists counts by itself, and stands there once', async (t) => {
  for (const phrase of AGREEMENT) t.equal(overlapOf(phrase), 'backchannel', phrase);
  for (const phrase of COMMANDS) t.equal(overlapOf(phrase), 'command', phrase);
  for (const phrase of SOFTENERS) t.equal(overlapOf(`stop ${phrase}`), 'command', phrase);
  for (const list of [AGREEMENT, COMMANDS, SOFTENERS]) {
    const heard = list.map((phrase) => wordsOf(phrase).join(''));
    t.strictSame(heard, [...new Set(heard)]);
  }
});

t.test('what only begins as agreement or a command does is speech', async (t) => {
  const texts =
    'Right here.|Fine dining.|Good, and on Monday?|Nothing.|Notice.|Stopping.|Waiter!|Bienvenue.|Klarheit.|Jacke.|Nonante.|' +
    '好吃。|不好意思|はいしゃ|네모|예약';
  for (const text of texts.split('|')) t.equal(overlapOf(text), 'speech', text);
});

t.test('while the user still speaks, the last word may be half of another and does not count', async (t) => {
  const CLASSES: readonly (readonly [text: string, overlap: Overlap])[] = [
    ['stop', 'noise'],
    ['stop it', 'command'],
    ['yes right', 'backchannel'],
    ['lamps please', 'speech'],
    ['makes sen', 'backchannel'],
  ];
  for (const [text, overlap] of CLASSES) t.equal(overlapOf(text, false), overlap, text);
  t.equal(overlapOf('makes'), 'speech', 'a phrase that has only begun is none at the end');
});

type Verdicts = Readonly<Record<Sensitivity, OverlapVerdict | undefined>>;
const all = (verdict: OverlapVerdict | undefined): Verdicts => ({
  low: verdict,
  balanced: verdict,
  high: verdict,
});

const eachOf = (text: string, finished: boolean) =>
  Object.fromEntries(
    (['low', 'balanced', 'high'] as const).map((each) => [each, verdictOf(text, each, finished)]),
  );

t.test('what is said decides at the end, as sensitive as the agent is', async (t) => {
  const VERDICTS: readonly (readonly [text: string, verdicts: Verdicts])[] = [
    ['', all('ignore')],
    ['Stop!', all('interrupt')],
    ['Okay.', { ...all('ignore'), high: 'interrupt' }],
    ['Lamps.', { ...all('interrupt'), low: 'later' }],
    ['Two red lamps.', { ...all('interrupt'), low: 'later' }],
    ['Two red lamps please.', all('interrupt')],
  ];
  for (const [text, verdicts] of VERDICTS) t.strictSame(eachOf(text, true), verdicts, text);
});

t.test('until then only what no further word can change does', async (t) => {
  const VERDICTS: readonly (readonly [text: string, verdicts: Verdicts])[] = [
    ['', all(undefined)],
    ['stop', all(undefined)],
    ['stop it', all('interrupt')],
    ['okay yes', all(undefined)],
    ['lamps please', { ...all(undefined), high: 'interrupt' }],
    ['two red lamps', { ...all('interrupt'), low: undefined }],
    ['two red lamps please now', all('interrupt')],
  ];
  for (const [text, verdicts] of VERDICTS) t.strictSame(eachOf(text, false), verdicts, text);
});

t.test('words that will not change interrupt at once where they are enough, agreement never', async (t) => {
  t.ok(interrupts('stop', 'low'));
  t.ok(interrupts('two lamps', 'balanced'));
  t.notOk(interrupts('two lamps', 'low'));
  t.notOk(interrupts('makes', 'high'), 'sense may follow');
  t.notOk(interrupts('okay', 'high'));
  t.notOk(interrupts('', 'high'));
});
