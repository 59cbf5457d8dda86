/**
 * Silero voice activity frame by frame, for conversations: quicker to notice a beginning and an end than the detector for
 * recordings (index.ts), at the price of an occasional false start, which turn-taking can handle.
 */
import sherpa, { type Vad } from 'sherpa-onnx-node';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { defaultModelsFolder, modelFile } from '../model-files.js';
import { floatsOf } from '../samples.js';

/** Samples of a frame at 16 kHz. */
export const DETECTOR_FRAME = 512;

/** In seconds. The library counts from the end of the first frame of either, so silence must last a frame longer, 256 ms. */
const NOTICE = { speech: 0.06, silence: 0.22 };
const BUFFER_SECONDS = 30;
/** The library keeps the voice in progress, which in a crowd has no end: it is emptied after so many frames, and hears on with the next. */
const MOST_FRAMES = 900;
/**
 * Samples of context that the model needs with each frame. They must be fed before the first frame: without them the
 * library completes each frame with the next one, and everything is noticed 28 ms later.
 */
const LOOKS_BACK = new Float32Array(64);
/** After this length of speech the detector takes any short pause for an end. */
const LONG_SECONDS = 20;
/** Most idle models kept for the next calls; each takes memory. */
const MOST_IDLE = 8;

export interface FrameDetector {
  /** Takes DETECTOR_FRAME samples; returns whether there is voice after them. */
  push(frame: Int16Array): boolean;
  /** Returns the detector, which must not be used afterwards. */
  release(): void;
}

/** Loads the model. Throws if its file is missing, naming it. */
export function createDetectors(modelsFolder = defaultModelsFolder): () => FrameDetector {
  const model = modelFile(modelsFolder, 'silero', 'silero_vad_v6.onnx');
  const make = (): Vad =>
    new sherpa.Vad(
      {
        sileroVad: {
          model,
          threshold: 0.5,
          minSpeechDuration: NOTICE.speech,
          minSilenceDuration: NOTICE.silence,
          windowSize: DETECTOR_FRAME,
          maxSpeechDuration: LONG_SECONDS,
        },
        sampleRate: RECOGNITION_RATE,
        numThreads: 1,
        debug: false,
      },
      BUFFER_SECONDS,
    );
  const idle = [make()];
  return () => {
    const vad = idle.pop() ?? make();
    vad.acceptWaveform(LOOKS_BACK);
    let kept = 0;
    return {
      push(frame) {
        vad.acceptWaveform(floatsOf(frame));
        const active = vad.isDetected();
        kept = active ? (kept + 1) % MOST_FRAMES : 0;
        if (active && kept === 0) vad.flush();
        while (!vad.isEmpty()) vad.pop();
        return active;
      },
      release() {
        if (idle.length >= MOST_IDLE) return;
        vad.reset();
        while (!vad.isEmpty()) vad.pop();
        idle.push(vad);
      },
    };
  };
}
