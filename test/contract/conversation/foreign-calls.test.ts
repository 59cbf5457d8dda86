/**
 * Whole calls in German, Spanish and Japanese, in a long form: a fresh gateway's voices speak on both sides, and Whisper hears behind
 * `openai-compatible`. What is heard, answered and recorded is checked.
 */
import t from '../../fixtures/tap.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { messagesOf, shownBy, Talks } from '../../fixtures/conversation/conversation.js';
import { noLingware } from '../../fixtures/engines/lingware.js';
import { parted, wordErrors, wordsOf } from '../../fixtures/engines/listening.js';
import { PHONE_SENTENCES } from '../../fixtures/engines/phone-sentences.js';
import { noWhisper, whisperService } from '../../fixtures/engines/whisper.js';
import { shortOrLong } from '../../fixtures/long.js';
import { until } from '../../fixtures/until.js';

const skip = shortOrLong<string | false>('it takes minutes: npm run test:long', noLingware || noWhisper);

/** Most words, in Japanese characters, that may be wrong, in percent: only a robotic voice speaks that here, and kana and kanji differ. */
const MOST_WRONG: Readonly<Record<string, number>> = { de: 15, es: 15, ja: 45 };
/** Whisper takes its time, and nothing is said twice. */
const HEARD_MS = 60_000;

const ANSWERS: Readonly<Record<string, string>> = {
  de: 'Vielen Dank, das habe ich notiert.',
  es: 'Muchas gracias, lo he anotado.',
  ja: 'ありがとうございます。承知しました。',
};
const JAPANESE = [
  '明日の午後に予約をお願いします。',
  '私の住所が変わりました。',
  '今日は何時まで開いていますか。',
];
const saidIn = (language: string): readonly string[] =>
  language === 'ja' ? JAPANESE : PHONE_SENTENCES[language]!.slice(0, 4);

t.test('calls in other languages', { skip }, async (t) => {
  t.teardown(letGo);
  const talks = await Talks.start(t, {
    TTS_ENGINES: '',
    STT_ENGINES: 'openai-compatible',
    REMOTE_OPENAI_URL: await whisperService(t),
  });
  for (const [language, answer] of Object.entries(ANSWERS)) {
    talks.model.answer(() => answer);
    const meeting = await talks.meet({ voice: { speaking_language: language } });
    const said = saidIn(language);
    for (const [at, text] of said.entries()) {
      await talks.say(meeting.caller, text);
      await until('it is heard', () => shownBy(meeting.caller, 'user').length > at, HEARD_MS);
      await until('it is answered', () => shownBy(meeting.caller, 'agent').length > at);
    }
    meeting.caller.hangUp();
    const messages = messagesOf(await talks.ended(meeting.invite));
    const spoken = (role: string) =>
      messages.flatMap((line) => (line.startsWith(`${role}: `) ? [line.slice(role.length + 2)] : []));
    const units = language === 'ja' ? parted : (text: string) => text;
    const [wanted, heard] = [units(said.join(' ')), units(spoken('user').join(' '))];
    const wrong = (100 * wordErrors(wanted, heard)) / wordsOf(wanted).length;
    t.comment(`${language}: ${wrong.toFixed(1)} % wrong`);
    t.ok(wrong <= MOST_WRONG[language]!, `${language}: ${wrong} %, ${heard}`);
    t.ok(
      spoken('assistant').every((text) => text === answer),
      'what was said is recorded',
    );
  }
});
