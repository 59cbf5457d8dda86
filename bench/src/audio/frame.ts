/** A stretch of audio that is loud or silent as a whole. */
export interface Frame {
  /** Behind its last byte. */
  readonly end: number;
  readonly seconds: number;
  readonly audible: boolean;
}
