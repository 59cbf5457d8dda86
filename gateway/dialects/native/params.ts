/** From the native wire to the speech ports: defaults, bounds and refusals (native-and-platform.md 1.2, 4). */
import { resolveOutput } from '../../../codecs/formats.js';
import type { OutputFormat } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { DEFAULT_SYNTHESIS_MODEL, SYNTHESIS_MODELS, type SynthesisModel } from '../../../contracts/models.js';
import type { SynthesisRequest } from '../../../contracts/ports/speech.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { toNativeSynthesis } from '../../../contracts/schemas/native-options.js';
import { AsrFields, TtsBody } from './schema.js';

const checkTts = checker(TtsBody);
const checkAsr = checker(AsrFields);

/** The `model` header; missing or unknown falls back to the default, as on the service it stands in for. */
export function modelOf(header: string | undefined, vendor: string): SynthesisModel {
  const bare = header?.startsWith(`${vendor}/`) ? header.slice(vendor.length + 1) : header;
  return SYNTHESIS_MODELS.find((model) => model === bare) ?? DEFAULT_SYNTHESIS_MODEL;
}

const outputOf = (body: TtsBody): OutputFormat =>
  resolveOutput({
    format: body.format ?? 'mp3',
    sampleRate: body.sample_rate,
    mp3Bitrate: body.mp3_bitrate,
    opusBitrate: body.opus_bitrate,
  });

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
    output: outputOf(body),
    ...toNativeSynthesis(body, { latency: 'normal' }),
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
