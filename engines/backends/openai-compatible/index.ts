/**
 * Remote engines with the widely spoken REST API: `/audio/speech` and `/audio/transcriptions` below the base
 * address (which usually ends in `/v1`). They run in the gateway's process, because nothing here computes.
 */
import { LIMITS } from '../../../contracts/limits.js';
import { type Keeper, noKeeper } from '../../../contracts/ports/parts.js';
import type { SpeechContext } from '../../../contracts/ports/speech/stt.js';
import type { TtsEngine } from '../../../contracts/ports/speech/tts.js';
import { wellFormed } from '../../../contracts/text/text.js';
import type { Transcriber } from '../../long-audio.js';
import { multipart, type MultipartBody } from '../remote/multipart.js';
import { isRefusalOf, termsWithin } from '../remote/told-context.js';
import type { TranscribePiece } from '../remote/transcribe-piece.js';
import { PIECE, remoteTranscriber } from '../remote/transcription.js';
import { askingAs, engineOf, type RemoteSettings, servicesOf } from '../remote/settings.js';
import { type Abilities, remoteSpeech } from '../remote/synthesis.js';

const KIND = 'openai-compatible';

const ABILITIES: Abilities = { cloning: false, speakers: false, styleTags: false };

/** Errors of `synthesize`: `provider_failed`. */
export const createOpenaiSpeech = (settings: RemoteSettings, keeper: Keeper = noKeeper): TtsEngine =>
  remoteSpeech(
    KIND,
    settings,
    ABILITIES,
    ({ text, voice, speed }, { format }) => ({
      path: '/audio/speech',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: settings.ttsModel,
        voice,
        input: text,
        response_format: format,
        speed,
      }),
    }),
    keeper,
  );

/** The agent's last words and what may be said, as a text before it: that is what models with this field were trained with. */
function promptOf({ terms, before = '' }: SpeechContext): string {
  const { prompt, beforeCharacters } = LIMITS.remote.expected;
  const named = termsWithin(terms, prompt).join(', ');
  return [named && `${named}.`, wellFormed(before.slice(-beforeCharacters)).trim()].filter(Boolean).join(' ');
}

/** What is asked of a transcription: `timed` as words and segments with their times, `plain` as its text alone. */
type Detail = 'timed' | 'plain';

const FIELDS: Readonly<Record<Detail, readonly (readonly [string, string])[]>> = {
  timed: [
    ['response_format', 'verbose_json'],
    ['timestamp_granularities[]', 'word'],
    ['timestamp_granularities[]', 'segment'],
  ],
  plain: [['response_format', 'json']],
};

function formOf(
  bytes: Buffer,
  model: string,
  { language, context }: Parameters<TranscribePiece>[1],
  detail: Detail,
): MultipartBody {
  const prompt = context ? promptOf(context) : '';
  return multipart({ name: 'file', fileName: 'audio.wav', type: 'audio/wav', bytes }, [
    ['model', model],
    ...FIELDS[detail],
    ...(language === undefined ? [] : [['language', language] as const]),
    ...(prompt === '' ? [] : [['prompt', prompt] as const]),
  ]);
}

const ABOUT_TIMES = /verbose_json|response_format|timestamp/i;

/** Whether the service refused to tell times, as models without them do (gpt-4o-transcribe; Voxtral on vLLM). */
const isWithoutTimes = (error: unknown): boolean => isRefusalOf(error, ABOUT_TIMES);

/**
 * Errors of `transcribe`: `provider_failed`. A service that refuses to tell times is asked again for the text alone, and from
 * then on only for that.
 */
export function createOpenaiTranscriber(settings: RemoteSettings, keeper: Keeper = noKeeper): Transcriber {
  const name = engineOf(settings, KIND);
  const askingFor = askingAs('recogniser', name, settings, keeper);
  const transcribeAs =
    (detail: Detail): TranscribePiece =>
    async (wav, asked, signal) => {
      const { traceContext, whom } = asked;
      const form = formOf(wav, settings.sttModel, asked, detail);
      const request = { path: '/audio/transcriptions', ...form, traceContext };
      return servicesOf(settings).whole(request, PIECE, signal, askingFor(whom));
    };
  const [timed, plain] = [transcribeAs('timed'), transcribeAs('plain')];
  let known = timed;
  const transcribe: TranscribePiece = async (...piece) => {
    try {
      return await known(...piece);
    } catch (error) {
      if (!isWithoutTimes(error)) throw error;
      const found = await plain(...piece);
      known = plain;
      return found;
    }
  };
  return remoteTranscriber(name, settings, transcribe);
}
