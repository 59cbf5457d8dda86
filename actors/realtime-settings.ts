/** The settings of a realtime session of protocol A (docs/contract/protocol-a.md 5.2). */
import type { AudioFormat } from '../contracts/audio.js';
import type { SynthesisModel, TranscriptionModel } from '../contracts/speech/models.js';

export type SessionKind = 'realtime' | 'transcription';

/** Position of the microphone according to the client; both are treated alike here. */
export type NoiseReduction = 'near_field' | 'far_field';

export interface WireFormat {
  readonly format: AudioFormat;
  /** Hz */
  readonly sampleRate: number;
}

export interface RealtimeSettings {
  readonly kind: SessionKind;
  /** `name`: the client's spelling. */
  readonly model: { readonly name: string; readonly id: SynthesisModel };
  /** If null, committed audio becomes an item without a transcript. */
  readonly transcription: {
    readonly name: string;
    readonly id: TranscriptionModel;
    readonly language?: string;
    /** Options without effect, as the client sent them, to be shown. */
    readonly shown?: Readonly<Record<string, unknown>>;
  } | null;
  readonly input: WireFormat;
  /** If set, noise is removed from PCM before it is transcribed. */
  readonly noiseReduction: NoiseReduction | null;
  readonly output: WireFormat;
  readonly voice: string;
  readonly speed: number;
  readonly modalities: readonly string[];
}

export const isSameFormat = (one: WireFormat, other: WireFormat): boolean =>
  one.format === other.format && one.sampleRate === other.sampleRate;

/** Whether both use the same voice of the same model. */
export const isSameVoice = (one: RealtimeSettings, other: RealtimeSettings): boolean =>
  one.voice === other.voice && one.model.id === other.model.id;
