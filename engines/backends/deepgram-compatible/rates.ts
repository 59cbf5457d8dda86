/** Rates in Hz of raw audio that the service can be asked for. */
export const DEEPGRAM_RATES: readonly number[] = [8000, 16_000, 24_000, 32_000, 48_000];
