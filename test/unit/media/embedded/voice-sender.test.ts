/** The agent's voice as Opus: properties that it has even with the least processor time. */
import t from '../../../fixtures/tap.js';
import { bytesOf, PLAYOUT_RATE } from '../../../../contracts/audio.js';
import { OPUS_TYPE } from '../../../../media/embedded/rtp.js';
import { VoiceSender } from '../../../../media/embedded/voice-sender.js';
import { FRAME_SAMPLES, Playout } from '../../../../media/playout.js';

/** One second: the encoder takes a longer hum for noise, which it sends without copies. */
const FRAMES = 50;
const PITCH = 120;
const HARMONICS = [1, 2, 3, 4, 5, 6, 8, 12, 18, 24];

/** Harmonics of a low voice, swelling and fading as syllables do. */
const vowels = Int16Array.from({ length: FRAMES * FRAME_SAMPLES }, (_, at) => {
  const seconds = at / PLAYOUT_RATE;
  const buzz = HARMONICS.reduce(
    (sum, harmonic) => sum + Math.sin(2 * Math.PI * PITCH * harmonic * seconds) / harmonic,
    0,
  );
  return 6000 * buzz * (0.6 + 0.4 * Math.sin(2 * Math.PI * 4 * seconds));
});

/** Whether a frame of speech carries a copy of the previous one (RFC 6716, 4.2.4: the second bit after the first byte). */
const hasCopy = ([toc = 0, first = 0]: Uint8Array): boolean => toc >> 3 < 16 && (first & 0x40) !== 0;

function sentAt(complexity: number): Uint8Array[] {
  const playout = new Playout(() => undefined);
  const sent: Uint8Array[] = [];
  const sender = new VoiceSender({ ssrc: 1, opusType: OPUS_TYPE, complexity }, playout, (_, opus) => {
    sent.push(Uint8Array.from(opus));
  });
  playout.play(1, bytesOf(vowels));
  for (let beat = 0; beat < FRAMES; beat += 1) sender.beat(true);
  sender.close();
  return sent;
}

/** Above 6 the encoder tells music from speech, which this is not. */
for (const complexity of [0, 1, 2, 5])
  t.test(`frames carry a spare copy of the last one at complexity ${complexity}`, (t) => {
    const sent = sentAt(complexity);
    t.equal(sent.length, FRAMES);
    const copies = sent.filter(hasCopy).length;
    t.ok(copies > FRAMES / 2, `${copies} of ${FRAMES}`);
    t.end();
  });
