/** The silence with which an engine begins, for which no caller waits (gateway/agents/conversations/leading-silence.ts). */
import t from '../../../../fixtures/tap.js';
import { bytesOf, PLAYOUT_RATE } from '../../../../../contracts/audio.js';
import type { Call } from '../../../../../contracts/ports/calls/calls.js';
import { CALL_SPEECH } from '../../../../../gateway/agents/conversations/call-speech.js';
import { leadOf } from '../../../../../gateway/agents/conversations/leading-silence.js';
import { type AgentVoice, Utterance } from '../../../../../gateway/agents/conversations/utterance.js';

const MS = PLAYOUT_RATE / 1000;
const sound = (silentMs: number, ms: number, value = 500): Int16Array =>
  new Int16Array((silentMs + ms) * MS).fill(value, silentMs * MS);

t.test('a beginning is silence up to 10 ms before its first sound', (t) => {
  t.equal(leadOf(sound(60, 100)), 50 * MS);
  t.equal(leadOf(sound(60, 100, -41)), 50 * MS);
  t.equal(leadOf(sound(8, 100)), 0);
  t.equal(leadOf(sound(0, 100)), 0);
  t.equal(leadOf(sound(100, 50, 40)), 0, 'silence alone is as it is');
  t.equal(leadOf(new Int16Array(0)), 0);
  t.end();
});

const TEXT = 'Sure, I will.';

/** A voice that says TEXT in two chunks of 100 ms, the first with 60 ms of silence, and a second piece that begins with silence. */
const VOICE = {
  speech: {
    async *synthesizeTimed({ text }: { readonly text: AsyncIterable<unknown> }) {
      for await (const _part of text);
      const piece = { index: 0, text: TEXT, at: 0, offset: 0, words: undefined };
      yield { audio: bytesOf(sound(60, 40)), piece: { ...piece, duration: 0.1, complete: false } };
      yield { audio: bytesOf(sound(60, 40)), piece: { ...piece, duration: 0.2, complete: true } };
    },
  },
  options: CALL_SPEECH,
  caller: { workspaceId: 'w', keyId: 'k' },
  substituted: () => undefined,
} as unknown as AgentVoice;

async function played(hasCues: boolean) {
  const lengths: number[] = [];
  const call = {
    playSpeech: (_utterance: number, samples: Int16Array) => {
      lengths.push(samples.length / MS);
      return Promise.resolve();
    },
    finishUtterance: () => undefined,
  } as unknown as Call;
  const utterance = new Utterance(
    1,
    call,
    () => new Date(0),
    () => undefined,
    hasCues,
  );
  utterance.write(TEXT);
  utterance.endText();
  await utterance.speak(VOICE, () => undefined);
  return { lengths, utterance };
}

t.test('an answer begins with its first sound, and its words are heard that much sooner', async (t) => {
  const { lengths, utterance } = await played(false);
  t.strictSame(lengths, [50, 100], 'silence within it stays');
  t.equal(utterance.heardIn(0), '', 'nothing was heard yet');
  t.equal(utterance.heardIn(150), TEXT);
  t.ok(utterance.endsWithin(0, 150));
});

t.test('where cues stand in its text, a pause at the beginning may be meant', async (t) => {
  const { lengths, utterance } = await played(true);
  t.strictSame(lengths, [100, 100]);
  t.equal(utterance.heardIn(200), TEXT);
});
