/** Bytes and milliseconds, for writing limits. */
export const KiB = 1024;
export const MiB = 1024 * KiB;
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Both ends are allowed. */
export const range = (min: number, max: number): Range => ({ min, max });
