/**
 * Silero voice activity of recordings. The detector reports whether there is speech; the bounds of spans are decided here, with a
 * margin and a longest length.
 *
 * Invariants: spans do not overlap and come in order; memory holds at most one span and a moment of
 * silence; the event loop turns at least every TURN_FRAMES frames.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import type { SpeechSpan, VoiceActivity } from '../../../contracts/ports/speech/stt.js';
import { frames } from '../frames.js';
import { SpanCutter } from '../span-cutter.js';
import { FRAME, loadNetwork, Memory, type SileroNetwork } from './network.js';
import { type VoicingFrames, Voicing } from './voicing.js';

/** Speech is noticed after 160 ms, its end after 544; long are 8 s. */
const PATIENCE: VoicingFrames = { begin: 5, end: 17, long: 250 };
/** 0.08 ms per frame: about 1 ms between two turns of the loop. */
const TURN_FRAMES = 16;

/**
 * Samples of silence: so much less than the cutter's margin in front of speech, and so much more behind it, 172 and 276 ms. With the
 * same on both sides moonshine hears first words worse ("And you" for "Thank you").
 */
const SILENCE = { before: -448, behind: 1216 };
/** Delay of the detector's verdict behind the audio. */
const LAG = {
  begin: PATIENCE.begin * FRAME + SILENCE.before,
  end: PATIENCE.end * FRAME - SILENCE.behind,
};

async function* cut(
  audio: AsyncIterable<Int16Array>,
  network: SileroNetwork,
  maxSpanSeconds: number,
  signal: AbortSignal,
): AsyncGenerator<SpeechSpan> {
  const [memory, voicing] = [new Memory(), new Voicing(PATIENCE)];
  const cutter = new SpanCutter({ maxSpan: Math.floor(maxSpanSeconds * RECOGNITION_RATE), lag: LAG });
  let count = 0;
  for await (const frame of frames(audio, FRAME)) {
    if (++count % TURN_FRAMES === 0) await turn();
    signal.throwIfAborted();
    const speech = voicing.push(network.probability(frame, memory));
    const { span, cutShort } = cutter.push(frame, speech, voicing.silent * FRAME - SILENCE.behind);
    if (cutShort) voicing.restart();
    if (span) yield span;
  }
  const last = cutter.end();
  if (last) yield last;
}

/** Loads the model. Throws if its file is missing or another one, naming it. */
export function createSilero(modelsFolder?: string): VoiceActivity {
  const network = loadNetwork(modelsFolder);
  return { spans: (audio, { maxSpanSeconds }, signal) => cut(audio, network, maxSpanSeconds, signal) };
}
