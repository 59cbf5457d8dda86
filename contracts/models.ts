/** The model catalogue and its aliases as data (decisions.md "Models, voices"). Ids without the vendor's prefix. */
export const SYNTHESIS_MODELS = ['s2.1-pro', 's2.1-pro-free', 's2-pro', 's1'] as const;
export const TRANSCRIPTION_MODELS = ['transcribe-1'] as const;

export type SynthesisModel = (typeof SYNTHESIS_MODELS)[number];
export type TranscriptionModel = (typeof TRANSCRIPTION_MODELS)[number];

export const DEFAULT_SYNTHESIS_MODEL: SynthesisModel = 's2.1-pro';
export const DEFAULT_TRANSCRIPTION_MODEL: TranscriptionModel = 'transcribe-1';
