/**
 * Turns requests of protocol B into requests of the speech port (docs/contract/protocol-b.md 1; rules 1, 2, 4, 5,
 * 7 to 10), for REST and the sockets. Native options come as headers only, which win over the fields.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { inOrder, mappedOptions } from '../../../contracts/options/mapping.js';
import { B_SPEECH } from '../../../contracts/options/protocol-b.js';
import { missingVoice } from '../../../contracts/speech/missing-voice.js';
import type { SpeechOptions } from '../../../contracts/ports/speech/speech.js';
import { toNativeSynthesis } from '../../../contracts/schemas/native-options.js';
import { optionsFromHeaders } from '../../../contracts/schemas/option-sources.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { spokenLanguage, synthesisModel } from './catalogue.js';
import { outputFormat } from './output-formats.js';

/** Options of a synthesis in their wire form; empty counts as absent. */
export interface SpeechWish {
  readonly voiceId: string;
  readonly modelId?: string | undefined;
  readonly languageCode?: string | undefined;
  readonly outputFormat?: string | undefined;
  /** The options that stand for native ones, as sent, not validated yet. */
  readonly fields?: PlainObject;
}

/** Errors: `voice_not_found` for an id that no voice can have. */
function checkVoice(id: string): string {
  if (id.length > LIMITS.native.referenceIdLength.max) throw missingVoice(id, 'voice_id');
  return id;
}

/**
 * All of a request except its text. Errors: `invalid_request`, `unsupported_format`, `model_not_found`,
 * `voice_not_found`, `language_unavailable`, `speakers_unavailable`.
 */
export function speechOptions(
  wish: SpeechWish,
  headers: ReadonlyMap<string, string>,
  vocabulary: Vocabulary,
): SpeechOptions {
  const options = inOrder({
    header: () => optionsFromHeaders(headers, vocabulary.headerPrefix),
    body: (stronger) => mappedOptions(wish.fields ?? {}, { rows: B_SPEECH }, stronger),
  });
  const native = toNativeSynthesis(options, { latency: 'low', voice: () => checkVoice(wish.voiceId) });
  const language = spokenLanguage(wish.languageCode);
  return {
    ...native,
    model: synthesisModel(wish.modelId, vocabulary),
    output: outputFormat(wish.outputFormat, options),
    ...(language === undefined ? {} : { language }),
  };
}

/** Rule 5: characters cannot be timed on a voice that exists for one request. Errors: `unsupported_option`. */
export function refuseReferences({ references }: SpeechOptions, { headerPrefix }: Vocabulary): void {
  if (references.length === 0) return;
  throw new ServiceError('unsupported_option', {
    message: 'Reference audio is not available where characters are timed',
    param: `${headerPrefix}References`,
  });
}
