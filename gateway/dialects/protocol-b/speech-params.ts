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
import { numberFrom } from '../../../contracts/schemas/coerce.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import { invalid, valid } from '../../../contracts/schemas/valid.js';
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
  /** `apply_text_normalization`, not validated yet. */
  readonly textNormalization?: unknown;
  /** `voice_settings`, not validated yet. */
  readonly voiceSettings?: unknown;
}

const checkSettings = checker(VoiceSettings, 'voice_settings');

interface Settings {
  readonly options: NativeOptions;
  readonly speed: number;
}

/** Settings that some clients write as text. */
const NUMBERS = ['stability', 'speed'] as const;

/** The settings that no header overrules; the others need not be valid (rule 4). */
function notOverruled(value: unknown, { temperature, prosody }: NativeOptions): unknown {
  if (!isPlainObject(value)) return value;
  return {
    ...value,
    ...Object.fromEntries(
      NUMBERS.filter((name) => name in value).map((name) => [name, numberFrom(value[name])]),
    ),
    ...(temperature === undefined ? {} : { stability: undefined }),
    ...(prosody?.speed === undefined ? {} : { speed: undefined }),
  };
}

/** `stability` is 1 minus the temperature; other settings except `speed` have no effect (rule 2). */
function settingsOf(value: unknown, headers: NativeOptions): Settings {
  const given = notOverruled(withoutNulls(value ?? {}), headers);
  const checked = checkSettings(given);
  const problem = checked.ok ? [] : checked.problems[0].loc;
  const { stability, speed = 1 } = valid(checked, ['voice_settings', ...problem].join('.'));
  return { options: stability === undefined ? {} : { temperature: 1 - stability }, speed };
}

const NORMALIZES: Readonly<Record<string, NativeOptions>> = {
  auto: {},
  on: { normalize: true },
  off: { normalize: false },
};

/** `apply_text_normalization`; a header overrules it. Errors: `invalid_request`. */
function normalizationOf(value: unknown, { normalize }: NativeOptions): NativeOptions {
  if (normalize !== undefined || value === undefined || value === null || value === '') return {};
  const known = typeof value === 'string' ? value.trim().toLowerCase() : '';
  const options = Object.hasOwn(NORMALIZES, known) ? NORMALIZES[known] : undefined;
  if (options) return options;
  const names = Object.keys(NORMALIZES).join(', ');
  throw invalid(`apply_text_normalization must be one of ${names}`, 'apply_text_normalization');
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
  const fromHeaders = optionsFromHeaders(headers, vocabulary.headerPrefix);
  const settings = settingsOf(wish.voiceSettings, fromHeaders);
  const normalization = normalizationOf(wish.textNormalization, fromHeaders);
  const options = mergeOptions(fromHeaders, settings.options, normalization);
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
