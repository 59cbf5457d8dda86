/** Rates in Hz of raw audio that the service can be asked for. */
export const ELEVENLABS_RATES: readonly number[] = [8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
