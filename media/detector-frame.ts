/** The samples of a frame of voice activity, at RECOGNITION_RATE. */
export const DETECTOR_FRAME = 512;
