/**
 * Settings from the handshake of a speech socket (docs/contract/protocol-b.md 3, "Query"). The last of a repeated
 * option counts; options without effect on the speech are ignored.
 */
import type { SocketFault } from '../../../../actors/stream-input.js';
import { booleanOf } from '../../../../contracts/schemas/coerce.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { B_SPEECH_SOCKET } from '../../../../contracts/options/protocol-b.js';
import { queryFields } from '../../../../contracts/options/reading.js';
import type { SynthesisModel } from '../../../../contracts/speech/models.js';
import type { SpeechOptions } from '../../../../contracts/ports/speech/speech.js';
import type { Vocabulary } from '../../../../contracts/vocabulary.js';
import type { HttpRequest } from '../../../server/port.js';
import { refuseReferences, speechOptions } from '../speech-params.js';
import { faultOf } from './faults.js';

type Handshake = Pick<HttpRequest, 'query' | 'params' | 'headers'>;

export interface SocketSettings {
  /** All of a request except its text, for a context with these voice settings. Errors: `invalid_request`. */
  options(voiceSettings: unknown): SpeechOptions;
  readonly model: SynthesisModel;
  /** Whether every frame has an alignment, in the time of the context. */
  readonly sync: boolean;
  /** Whether each message is spoken at once. */
  readonly auto: boolean;
  readonly inactivityMs: number;
  /** Why contexts may not speak; sent to them when they try (rule 5). */
  readonly refusal: SocketFault | undefined;
}

const invalid = (param: string, wanted: string): ServiceError =>
  new ServiceError('invalid_request', { message: `${param} must be ${wanted}`, param });

function flag(query: URLSearchParams, name: string): boolean {
  const value = booleanOf(query.getAll(name).at(-1));
  if (value === undefined) throw invalid(name, 'true or false');
  return value;
}

const NUMBER = /^\d{1,6}(\.\d{1,6})?$/;

/** Seconds on the wire; a larger value than the maximum counts as the maximum, since some clients send such values. */
function inactivityMs(query: URLSearchParams): number {
  const { default: usual, max } = LIMITS.streamInput.inactivityMs;
  const seconds = query.getAll('inactivity_timeout').at(-1);
  if (!seconds) return usual;
  const ms = NUMBER.test(seconds) ? Math.round(Number(seconds) * 1000) : 0;
  if (ms <= 0) throw invalid('inactivity_timeout', 'a number of seconds above 0');
  return Math.min(ms, max);
}

function refusalOf(options: SpeechOptions, vocabulary: Vocabulary): SocketFault | undefined {
  try {
    refuseReferences(options, vocabulary);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return faultOf(error);
    throw error;
  }
}

/** Errors: `invalid_request` and the others of `speechOptions`. */
export function socketSettings(
  { query, params, headers }: Handshake,
  vocabulary: Vocabulary,
): SocketSettings {
  const last = (name: string): string | undefined => query.getAll(name).at(-1);
  const wish = {
    voiceId: params['voice_id'] ?? '',
    modelId: last('model_id'),
    languageCode: last('language_code'),
    outputFormat: last('output_format'),
  };
  const asked = queryFields(query, B_SPEECH_SOCKET);
  const options = (voiceSettings: unknown): SpeechOptions =>
    speechOptions({ ...wish, fields: { ...asked, voice_settings: voiceSettings } }, headers, vocabulary);
  const usual = options(undefined);
  return {
    options,
    model: usual.model,
    sync: flag(query, 'sync_alignment'),
    auto: flag(query, 'auto_mode'),
    inactivityMs: inactivityMs(query),
    refusal: refusalOf(usual, vocabulary),
  };
}
