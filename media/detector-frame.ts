/** Samples of a VAD frame, at RECOGNITION_RATE. */
export const DETECTOR_FRAME = 512;
