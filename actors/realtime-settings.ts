/** The settings of a realtime session of protocol A (docs/contract/protocol-a.md 5.2). */
import type { AudioFormat } from '../contracts/audio.js';
import type { SynthesisModel, TranscriptionModel } from '../contracts/models.js';

export type SessionKind = 'realtime' | 'transcription';

/** Where the microphone is, as clients tell; it makes no difference here. */
export type NoiseReduction = 'near_field' | 'far_field';

export interface WireFormat {
  readonly format: AudioFormat;
  /** Hz */
  readonly sampleRate: number;
}

export interface RealtimeSettings {
  readonly kind: SessionKind;
  /** `name` as the client spells it. */
  readonly model: { readonly name: string; readonly id: SynthesisModel };
  /** Null: audio that is committed becomes an item without a transcript. */
  readonly transcription: {
    readonly name: string;
    readonly id: TranscriptionModel;
    readonly language?: string;
  } | null;
  readonly input: WireFormat;
  /** Noise is taken out of PCM before it is transcribed; null: it is not. */
  readonly noiseReduction: NoiseReduction | null;
  readonly output: WireFormat;
  readonly voice: string;
  readonly speed: number;
  readonly modalities: readonly string[];
}

export const isSameFormat = (one: WireFormat, other: WireFormat): boolean =>
  one.format === other.format && one.sampleRate === other.sampleRate;

/** Whether both speak with the same voice of the same model. */
export const isSameVoice = (one: RealtimeSettings, other: RealtimeSettings): boolean =>
  one.voice === other.voice && one.model.id === other.model.id;
