/** Requests of native speech as requests of the speech port: defaults, bounds, refusals (docs/contract/native.md 1.2, 4). */
import { resolveOutput } from '../../../codecs/formats.js';
import type { OutputFormat } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import {
  DEFAULT_SYNTHESIS_MODEL,
  SYNTHESIS_MODELS,
  type SynthesisModel,
} from '../../../contracts/speech/models.js';
import type { SynthesisRequest } from '../../../contracts/ports/speech/speech.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { toNativeSynthesis } from '../../../contracts/schemas/native-options.js';
import { TtsBody } from './schema.js';

const checkTts = checker(TtsBody);

/** Model of the `model` header. A missing or unknown one means the default, as on the service that this API replaces. */
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
