/**
 * Silero voice activity frame by frame, for conversations: quicker to notice a beginning and an end than the detector for
 * recordings (index.ts), at the price of an occasional false start, which turn-taking can handle.
 */
import { FRAME, loadNetwork, Memory } from './network.js';
import { type VoicingFrames, Voicing } from './voicing.js';

/** Samples of a frame at 16 kHz. */
export const DETECTOR_FRAME = FRAME;

/** A clear voice (two frames at 0.88) is noticed in its second frame, any other in its third; its end after 256 ms; long are 20 s. */
export const PATIENCE: VoicingFrames = { begin: 3, end: 8, long: 625, sure: 4 };

export interface FrameDetector {
  /** Takes DETECTOR_FRAME samples; returns whether there is voice after them. */
  push(frame: Int16Array): boolean;
}

/**
 * Loads the model, once for all detectors: one takes 1.3 KB, and making it costs nothing. Throws if the file is missing or
 * another one, naming it.
 */
export function createDetectors(modelsFolder?: string, patience = PATIENCE): () => FrameDetector {
  const network = loadNetwork(modelsFolder);
  return () => {
    const [memory, voicing] = [new Memory(), new Voicing(patience)];
    return { push: (frame) => voicing.push(network.probability(frame, memory)) };
  };
}
