/** Segments of a transcript as one text, in scripts with blanks between words and without (contracts/text/joined-texts.ts). */
import t from '../../../fixtures/tap.js';
import type { Transcript } from '../../../../contracts/ports/speech/speech.js';
import { gapBetween, joinedTexts } from '../../../../contracts/text/joined-texts.js';
import { partsOf } from '../../../../gateway/dialects/protocol-a/transcript-stream.js';
import { PartialTranscript } from '../../../../gateway/dialects/protocol-b/realtime/partial-transcript.js';
import { wordEntries } from '../../../../gateway/dialects/protocol-b/words.js';
import { createTranscription } from '../../../../engines/transcribe.js';
import { createRegistry } from '../../../../engines/registry.js';
import { bytesOf } from '../../../../contracts/audio.js';

const JAPANESE = ['今日は天気がいいです。', '明日も晴れるでしょう。'];
const ENGLISH = ['It is fine today.', 'It will be tomorrow.'];

const segmentsOf = (texts: readonly string[]) =>
  texts.map((text, index) => ({ text, start: index * 2, end: index * 2 + 1 }));

/** The transcript of a recogniser that hears these segments, and the parts in which it is streamed. */
async function transcribed(texts: readonly string[]) {
  const transcriber = {
    name: 'whisper',
    languages: ['ja', 'en'] as const,
    async *transcribe() {
      await Promise.resolve();
      yield* segmentsOf(texts);
    },
  };
  const transcription = createTranscription({
    registry: createRegistry({ tts: [], stt: [transcriber] }),
    admission: {
      reserve: () => Promise.resolve(() => undefined),
      enter: () => Promise.resolve(() => undefined),
      check: () => Promise.resolve(),
      use: () => undefined,
    },
    decode: async function* () {},
  });
  const audio = { chunks: [bytesOf(new Int16Array(16_000))], sampleRate: 16_000 };
  const told: string[] = [];
  let transcript: Transcript | undefined;
  const run = (heard: (segment: { text: string; start: number; end: number }) => void) =>
    transcription.transcribe(
      { audio, model: 'transcribe-1', words: true },
      { workspaceId: 'w', keyId: 'k' },
      new AbortController().signal,
      heard,
    );
  for await (const part of partsOf(run)) {
    if (part.text !== undefined) told.push(part.text);
    else transcript = part.transcript;
  }
  return { transcript: transcript!, told };
}

t.test(
  'a transcript of Chinese or Japanese has no blanks between its segments, one of English has',
  async (t) => {
    for (const [texts, gap] of [
      [JAPANESE, ''],
      [ENGLISH, ' '],
    ] as const) {
      const whole = texts.join(gap);
      const { transcript, told } = await transcribed(texts);
      t.equal(transcript.text, whole);
      t.strictSame(told, [texts[0], gap + texts[1]], 'streamed parts add up to it');
      t.equal(
        wordEntries(transcript)
          .map(({ text }) => text)
          .join(''),
        whole,
        'so do the words of protocol B',
      );
      const partial = new PartialTranscript(16_000);
      partial.take({ chunks: [], bytes: 128_000 });
      t.equal(partial.add(segmentsOf(texts)), whole, 'partial transcripts');
    }
  },
);

t.test('what stands between two texts', (t) => {
  const rows: readonly (readonly [string, string, string])[] = [
    ['你好', '世界', ''],
    ['你好。', '世界', ''],
    ['你好……', '再见', ''],
    ['「はい」', '「いいえ」', ''],
    ['スーパー', 'マーケット', ''],
    ['𠮷', '𠮷', ''],
    ['他说', '“好”', ''],
    ['我用 iPhone', '打电话', ' '],
    ['今日は', 'OK', ' '],
    ['안녕하세요.', '반갑습니다.', ' '],
    ['สวัสดี', 'ครับ', ' '],
    ['Hello…', 'there', ' '],
    ['', 'a', ''],
    ['a', '', ''],
  ];
  for (const [before, after, gap] of rows) t.equal(gapBetween(before, after), gap, `${before}|${after}`);
  t.equal(joinedTexts(['', '你好。', '', '世界', 'a', 'b']), '你好。世界 a b');
  t.end();
});
