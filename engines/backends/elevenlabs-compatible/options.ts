/** Options of a request for speech, as the service has them in its queries and bodies. */
import type { OutputFormat } from '../../../contracts/audio.js';
import type { SpeechContext } from '../../../contracts/ports/speech/stt.js';
import type { TtsRequest } from '../../../contracts/ports/speech/tts.js';
import { fieldsOf, type TermBounds } from '../remote/told-context.js';

/** Kilobits a second of Opus, where a client leaves them to the encoder. */
const OPUS_KBPS = 64;

/** Longer than a socket is open before it is needed (LIMITS.remote.spareSockets). */
const INACTIVITY_SECONDS = '60';

const formatName = ({ format, sampleRate, mp3Bitrate }: OutputFormat): string =>
  format === 'pcm' ? `pcm_${sampleRate}` : `${format}_${sampleRate}_${mp3Bitrate ?? OPUS_KBPS}`;

/** Models of the vendor that refuse to be told a language: they hear it in the text. */
const TAKES_NO_LANGUAGE = /^eleven_(?!.*(v2_5|v3))/;

const languageFor = (model: string, language: string): { readonly language_code?: string } =>
  TAKES_NO_LANGUAGE.test(model) ? {} : { language_code: language };

const normalizationOf = ({ normalize }: TtsRequest) =>
  normalize === undefined ? {} : { apply_text_normalization: normalize ? 'on' : 'off' };

export const settingsOfVoice = ({ speed }: TtsRequest) => (speed === 1 ? {} : { voice_settings: { speed } });

/** The query of `stream-input`. */
export const queryOf = (request: TtsRequest, model: string, audio: OutputFormat): string =>
  new URLSearchParams({
    model_id: model,
    output_format: formatName(audio),
    inactivity_timeout: INACTIVITY_SECONDS,
    ...languageFor(model, request.language),
    ...normalizationOf(request),
    ...(request.timing && { sync_alignment: 'true' }),
  }).toString();

/** Path below the address, and body, of speech by REST. */
export const restOf = (request: TtsRequest, model: string, audio: OutputFormat) => ({
  path: `/v1/text-to-speech/${encodeURIComponent(request.voice)}/stream?output_format=${formatName(audio)}`,
  body: JSON.stringify({
    text: request.text,
    model_id: model,
    ...languageFor(model, request.language),
    ...normalizationOf(request),
    ...settingsOfVoice(request),
  }),
});

/** Models of the vendor that refuse to be told words. */
const TAKES_NO_KEYTERMS = /^scribe_v1/;

/** The words that are expected, as fields of a form or query. */
export const keytermsOf = (
  model: string,
  context: SpeechContext | undefined,
  bounds: TermBounds,
): [string, string][] => (TAKES_NO_KEYTERMS.test(model) ? [] : fieldsOf('keyterms', context ?? {}, bounds));
