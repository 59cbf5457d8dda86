/**
 * Silero voice activity on sherpa-onnx. The detector reports whether there is speech; the bounds of spans
 * are decided here, because its own segments have no margin and no longest length.
 *
 * Invariants: spans do not overlap and come in order; memory holds at most one span and a moment of
 * silence; the event loop turns at least every TURN_FRAMES frames.
 */
import { setImmediate as turn } from 'node:timers/promises';
import sherpa, { type Vad, type VadConfig } from 'sherpa-onnx-node';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import type { SpeechSpan, VoiceActivity } from '../../../contracts/ports/speech/stt.js';
import { defaultModelsFolder, modelFile } from '../model-files.js';
import { floatsOf } from '../samples.js';
import { frames } from '../frames.js';
import { SpanCutter } from '../span-cutter.js';

/** Samples of the window that the model was trained on: 32 ms. */
const FRAME = 512;
const MIN_SPEECH_SECONDS = 0.1;
const MIN_SILENCE_SECONDS = 0.5;
/** The detector's own buffer; it is emptied as fast as it fills. */
const BUFFER_SECONDS = 60;
/** 0.3 ms per frame: at most 5 ms between two turns of the loop. */
const TURN_FRAMES = 16;
const IDLE_DETECTORS = 2;

/** Delay of the detector's verdict behind the audio. */
const LAG = {
  begin: 2 * FRAME + MIN_SPEECH_SECONDS * RECOGNITION_RATE,
  end: MIN_SILENCE_SECONDS * RECOGNITION_RATE,
};

const detectorConfig = (model: string): VadConfig => ({
  sileroVad: {
    model,
    threshold: 0.5,
    minSpeechDuration: MIN_SPEECH_SECONDS,
    minSilenceDuration: MIN_SILENCE_SECONDS,
    windowSize: FRAME,
    // After it the detector takes any short pause for an end.
    maxSpeechDuration: 8,
  },
  sampleRate: RECOGNITION_RATE,
  numThreads: 1,
  debug: false,
});

/** Empties the detector's own queue of segments, which nobody reads. */
function drain(detector: Vad): void {
  while (!detector.isEmpty()) detector.pop();
}

async function* cut(
  audio: AsyncIterable<Int16Array>,
  detector: Vad,
  maxSpanSeconds: number,
  signal: AbortSignal,
): AsyncGenerator<SpeechSpan> {
  const cutter = new SpanCutter({ maxSpan: Math.floor(maxSpanSeconds * RECOGNITION_RATE), lag: LAG });
  let count = 0;
  for await (const frame of frames(audio, FRAME)) {
    if (++count % TURN_FRAMES === 0) await turn();
    signal.throwIfAborted();
    detector.acceptWaveform(floatsOf(frame));
    const { span, cutShort } = cutter.push(frame, detector.isDetected());
    // A cut in running speech must also empty the detector, or it would keep an hour of speech.
    if (cutShort) detector.flush();
    drain(detector);
    if (span) yield span;
  }
  const last = cutter.end();
  if (last) yield last;
}

/** Loads the model. Throws if its file is missing, naming it. */
export function createSilero(modelsFolder = defaultModelsFolder): VoiceActivity {
  const config = detectorConfig(modelFile(modelsFolder, 'silero', 'silero_vad_v6.onnx'));
  const idle = [new sherpa.Vad(config, BUFFER_SECONDS)];
  function putBack(detector: Vad): void {
    if (idle.length >= IDLE_DETECTORS) return;
    detector.reset();
    drain(detector);
    idle.push(detector);
  }
  return {
    async *spans(audio, { maxSpanSeconds }, signal) {
      const detector = idle.pop() ?? new sherpa.Vad(config, BUFFER_SECONDS);
      try {
        yield* cut(audio, detector, maxSpanSeconds, signal);
      } finally {
        putBack(detector);
      }
    },
  };
}
