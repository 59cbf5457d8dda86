/**
 * Turns requests of protocol B into requests of the speech port (docs/contract/protocol-b.md 1; rules 1, 2, 4, 5,
 * 7 to 10), for REST and the sockets. Native options come as headers only, which win over the fields.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { missingVoice } from '../../../contracts/speech/missing-voice.js';
import type { SpeechOptions } from '../../../contracts/ports/speech/speech.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { type NativeOptions, toNativeSynthesis } from '../../../contracts/schemas/native-options.js';
import { mergeOptions, optionsFromHeaders } from '../../../contracts/schemas/option-sources.js';
import { valid } from '../../../contracts/schemas/valid.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { spokenLanguage, synthesisModel } from './catalogue.js';
import { outputFormat } from './output-formats.js';
import { VoiceSettings } from './schema.js';

/** Options of a synthesis in their wire form; empty counts as absent. */
export interface SpeechWish {
  readonly voiceId: string;
  readonly modelId?: string | undefined;
  readonly languageCode?: string | undefined;
  readonly outputFormat?: string | undefined;
  /** `voice_settings`, not validated yet. */
  readonly voiceSettings?: unknown;
}

const checkSettings = checker(VoiceSettings, 'voice_settings');

interface Settings {
  readonly options: NativeOptions;
  readonly speed: number;
}

/** `stability` is 1 minus the temperature; other settings except `speed` have no effect (rule 2). */
function settingsOf(value: unknown): Settings {
  const given = withoutNulls(value ?? {});
  const checked = checkSettings(given);
  const problem = checked.ok ? [] : checked.problems[0].loc;
  const { stability, speed = 1 } = valid(checked, ['voice_settings', ...problem].join('.'));
  return { options: stability === undefined ? {} : { temperature: 1 - stability }, speed };
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
  const settings = settingsOf(wish.voiceSettings);
  const fromHeaders = optionsFromHeaders(headers, vocabulary.headerPrefix);
  const options = mergeOptions(fromHeaders, settings.options);
  const native = toNativeSynthesis(options, {
    latency: 'low',
    speed: settings.speed,
    voice: () => checkVoice(wish.voiceId),
  });
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
