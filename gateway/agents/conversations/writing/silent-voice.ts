/** Voice and recogniser of conversations in writing. The voice "speaks" each part of the text as one frame of silence. */
import { PLAYOUT_RATE } from '../../../../contracts/audio.js';
import type { Speech, Transcription } from '../../../../contracts/ports/speech/speech.js';

const FRAME_SECONDS = 0.02;
const FRAME = new Uint8Array(2 * PLAYOUT_RATE * FRAME_SECONDS);
/** Text that a real voice would speak: with letters or digits, unlike emoji. */
const SPOKEN = /[\p{L}\p{N}]/u;

export const SILENT_VOICE: Pick<Speech, 'synthesizeTimed' | 'checkVoice'> = {
  checkVoice: () => Promise.resolve({ styleTags: false }),
  async *synthesizeTimed({ text }) {
    const parts = typeof text === 'string' ? [{ kind: 'text', text } as const] : text;
    let [waiting, at, index] = ['', 0, 0];
    for await (const part of parts) {
      if (part.kind === 'text') waiting += part.text;
      if (part.kind === 'flush' || !SPOKEN.test(waiting)) continue;
      const offset = index * FRAME_SECONDS;
      const timing = { offset, duration: FRAME_SECONDS, complete: true, words: undefined };
      yield { audio: FRAME, piece: { index, text: waiting, at, ...timing }, end: offset + FRAME_SECONDS };
      at += waiting.length;
      index += 1;
      waiting = '';
    }
  },
};

/** There is no audio to transcribe. */
export const DEAF: Transcription = {
  transcribe: () => Promise.resolve({ text: '', duration: 0, segments: [] }),
  countUsage: () => undefined,
  checkLanguage: () => undefined,
  reducesNoise: false,
};
