/** Times on the wire: seconds, rounded to milliseconds. */
export const seconds = (value: number): number => Math.round(value * 1000) / 1000;
