/** From the native wire to the speech ports: defaults, bounds and refusals (native-and-platform.md 1.2, 4). */
import { resolveOutput } from '../../../codecs/formats.js';
import type { OutputFormat } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { DEFAULT_SYNTHESIS_MODEL, SYNTHESIS_MODELS, type SynthesisModel } from '../../../contracts/models.js';
import type { SynthesisRequest } from '../../../contracts/ports/speech.js';
import type { ReferenceAudio, Sampling } from '../../../contracts/ports/tts.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { AsrFields, TtsBody } from './schema.js';

const checkTts = checker(TtsBody);
const checkAsr = checker(AsrFields);

/** The `model` header; missing or unknown falls back to the default, as on the service it stands in for. */
export function modelOf(header: string | undefined, vendor: string): SynthesisModel {
  const bare = header?.startsWith(`${vendor}/`) ? header.slice(vendor.length + 1) : header;
  return SYNTHESIS_MODELS.find((model) => model === bare) ?? DEFAULT_SYNTHESIS_MODEL;
}

function voiceOf(referenceId: TtsBody['reference_id']): string {
  if (Array.isArray(referenceId)) throw new ServiceError('speakers_unavailable', { param: 'reference_id' });
  return referenceId ?? '';
}

const isReference = (value: unknown): value is ReferenceAudio => {
  const { audio, text } = (value ?? {}) as Partial<ReferenceAudio>;
  return audio instanceof Uint8Array && audio.length > 0 && typeof text === 'string';
};

/** Reference audio is binary, so only MessagePack can carry it. */
function referencesOf(value: unknown): readonly ReferenceAudio[] {
  if (value === undefined) return [];
  const list: unknown[] | undefined = Array.isArray(value) ? value.flat(1) : undefined;
  if (list?.every(isReference)) return list;
  throw new ServiceError('invalid_request', {
    message: 'Reference Audio is not valid, please check your reference audio',
    param: 'references',
  });
}

const outputOf = (body: TtsBody): OutputFormat =>
  resolveOutput({
    format: body.format ?? 'mp3',
    sampleRate: body.sample_rate,
    mp3Bitrate: body.mp3_bitrate,
    opusBitrate: body.opus_bitrate,
  });

function samplingOf(body: TtsBody): Sampling {
  return {
    ...(body.temperature === undefined ? {} : { temperature: body.temperature }),
    ...(body.top_p === undefined ? {} : { topP: body.top_p }),
    ...(body.repetition_penalty === undefined ? {} : { repetitionPenalty: body.repetition_penalty }),
  };
}

/** Errors: `invalid_request` with the first problem, `unsupported_format`, `speakers_unavailable`. */
export function synthesisRequest(value: unknown, model: SynthesisModel): SynthesisRequest {
  const checked = checkTts(withoutNulls(value));
  if (!checked.ok) {
    const [{ message, loc }] = checked.problems;
    throw new ServiceError('invalid_request', { message, param: loc.join('.') });
  }
  const body = checked.value;
  return {
    text: body.text,
    model,
    voice: voiceOf(body.reference_id),
    references: referencesOf(body.references),
    output: outputOf(body),
    latency: body.latency ?? 'normal',
    speed: body.prosody?.speed ?? 1,
    volume: body.prosody?.volume ?? 0,
    normalizeLoudness: body.prosody?.normalize_loudness ?? true,
    chunkLength: body.chunk_length ?? 300,
    sampling: samplingOf(body),
  };
}

export interface AsrInput {
  readonly audio: Uint8Array;
  readonly language?: string;
  readonly ignoreTimestamps: boolean;
}

/** Errors: `invalid_request`. */
export function asrInput(audio: unknown, fields: unknown): AsrInput {
  if (!(audio instanceof Uint8Array)) {
    throw new ServiceError('invalid_request', { message: 'missing field audio', param: 'audio' });
  }
  const checked = checkAsr(withoutNulls(fields));
  if (!checked.ok) {
    const [{ message, loc }] = checked.problems;
    throw new ServiceError('invalid_request', { message, param: loc.join('.') });
  }
  const { language, ignore_timestamps: ignore = true } = checked.value;
  return { audio, ignoreTimestamps: ignore, ...(language ? { language } : {}) };
}
