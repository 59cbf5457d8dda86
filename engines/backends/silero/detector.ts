/**
 * Silero voice activity frame by frame, for conversations: quicker to notice a beginning and an end than what cuts
 * recordings, at the price of a false start now and then, which turn-taking is made for.
 */
import sherpa, { type Vad } from 'sherpa-onnx-node';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { defaultModelsFolder, modelFile } from '../model-files.js';
import { floatsOf } from '../samples.js';

/** Samples of a frame at 16 kHz. */
export const DETECTOR_FRAME = 512;

/** In seconds. The library counts from behind the first frame of either: what it wants of silence is a frame longer, 256 ms. */
const NOTICE = { speech: 0.06, silence: 0.22 };
const BUFFER_SECONDS = 30;
/**
 * The model looks back so many samples behind each frame. Before the first one they have to be given: without them the library
 * waits for the next frame to fill up the present one, and everything is noticed 28 ms later.
 */
const LOOKS_BACK = new Float32Array(64);
/** Past it the detector takes any short pause for an end. */
const LONG_SECONDS = 20;
/** A model takes memory: some are kept for the next call. */
const MOST_IDLE = 8;

export interface FrameDetector {
  /** Whether there is voice, DETECTOR_FRAME samples later. */
  push(frame: Int16Array): boolean;
  /** Gives it back; it is not used afterwards. */
  release(): void;
}

/** Loads the model. Throws naming the file where it is missing. */
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
    return {
      push(frame) {
        vad.acceptWaveform(floatsOf(frame));
        const active = vad.isDetected();
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
