/**
 * Remote engines with Deepgram's API: `/v1/listen` for recorded audio and by socket, and `/v1/speak`. They run in the gateway's process, because nothing
 * here computes. A voice is a model there, and its name says its language. Speech comes by REST: the text of a piece is whole when it is
 * asked for, and its socket tells no times of words.
 */
import { type Keeper, noKeeper } from '../../../contracts/ports/parts.js';
import type { TtsEngine } from '../../../contracts/ports/speech/tts.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import { LANGUAGE_CODES, type LanguageCode } from '../../../contracts/speech/languages.js';
import type { Transcriber } from '../../long-audio.js';
import { alsoListening } from '../remote/listening.js';
import { askingAs, engineOf, type RemoteSettings, servicesOf } from '../remote/settings.js';
import { type Abilities, remoteSpeech } from '../remote/synthesis.js';
import type { TranscribePiece } from '../remote/transcribe-piece.js';
import { jsonIn, PIECE, pieceIn, type RemoteTranscript, remoteTranscriber } from '../remote/transcription.js';
import { firstOf, writtenWords } from './answers.js';
import { expectedBy } from './expected.js';
import { liveListen } from './listening.js';

const KIND = 'deepgram-compatible';

const ABILITIES: Abilities = { cloning: false, speakers: false, styleTags: false, speed: false };

/** The language at the end of a voice's name; undefined if there is none. */
function languageOfVoice(voice: string): readonly LanguageCode[] | undefined {
  const [, code = ''] = /-([a-z]{2})$/.exec(voice) ?? [];
  return LANGUAGE_CODES.includes(code) ? [code] : undefined;
}

/** Errors of `synthesize`: `provider_failed`. */
export const createDeepgramSpeech = (settings: RemoteSettings, keeper: Keeper = noKeeper): TtsEngine =>
  remoteSpeech(
    KIND,
    settings,
    ABILITIES,
    ({ text, voice }, { sampleRate }) => {
      const query = new URLSearchParams({
        model: voice,
        encoding: 'linear16',
        container: 'none',
        sample_rate: String(sampleRate),
      });
      return {
        path: `/v1/speak?${query}`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text }),
      };
    },
    keeper,
    { languagesOf: languageOfVoice, modelFor: ({ voice }) => voice },
  );

/** The first channel of an answer, in the words of other services. */
function transcriptIn(answer: unknown): RemoteTranscript {
  const results = isPlainObject(answer) && isPlainObject(answer['results']) ? answer['results'] : {};
  const channel = firstOf(results['channels']);
  const { transcript: text, words } = firstOf(channel['alternatives']);
  return { text, language: channel['detected_language'], words: writtenWords(words) };
}

const RECORDED = { most: PIECE.most, read: (body: Buffer) => pieceIn(transcriptIn(jsonIn(body))) };

/** Errors of `transcribe`: `provider_failed`. */
export function createDeepgramTranscriber(settings: RemoteSettings, keeper: Keeper = noKeeper): Transcriber {
  const name = engineOf(settings, KIND);
  const askingFor = askingAs('recogniser', name, settings, keeper);
  const transcribe: TranscribePiece = async (wav, { language, context, traceContext, whom }, signal) => {
    const fields = {
      model: settings.sttModel,
      smart_format: 'true',
      ...(language === undefined ? { detect_language: 'true' } : { language }),
    };
    const expected = expectedBy(settings.sttModel, context);
    const query = new URLSearchParams([...Object.entries(fields), ...expected]);
    const request = {
      path: `/v1/listen?${query}`,
      headers: { 'content-type': 'audio/wav' },
      body: wav,
      traceContext,
    };
    return servicesOf(settings).whole(request, RECORDED, signal, askingFor(whom));
  };
  const recorded = remoteTranscriber(name, settings, transcribe);
  const { liveModel } = settings;
  return alsoListening(
    recorded,
    liveModel === undefined ? undefined : liveListen(liveModel),
    settings,
    askingFor,
  );
}
