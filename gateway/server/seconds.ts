/** Times on the wire: seconds, to the millisecond. */
export const seconds = (value: number): number => Math.round(value * 1000) / 1000;
