/**
 * Remote engines with the API that our protocol B follows (docs/contract/protocol-b.md): a vendor's, or another gateway's below
 * `/compat/elevenlabs`. Speech and transcription by its sockets or by REST. They run in the gateway's process, because
 * nothing here computes.
 */
import { LIMITS } from '../../../contracts/limits.js';
import { type Keeper, noKeeper } from '../../../contracts/ports/parts.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import type { TtsEngine } from '../../../contracts/ports/speech/tts.js';
import type { Transcriber } from '../../long-audio.js';
import { alsoListening } from '../remote/listening.js';
import { multipart } from '../remote/multipart.js';
import { askingAs, engineOf, type RemoteSettings, servicesOf } from '../remote/settings.js';
import { type Abilities, remoteSpeech } from '../remote/synthesis.js';
import type { TranscribePiece } from '../remote/transcribe-piece.js';
import { PIECE, remoteTranscriber } from '../remote/transcription.js';
import type { VoiceListing } from '../remote/voices.js';
import { refusalIn } from './failures.js';
import { keytermsOf, restOf } from './options.js';
import { realtime } from './realtime.js';
import { streamInput } from './stream-input.js';

const KIND = 'elevenlabs-compatible';

const ABILITIES: Abilities = {
  cloning: false,
  speakers: false,
  styleTags: false,
  timing: 'word',
  speedRange: LIMITS.speed.protocolB,
};

const LISTING: VoiceListing = {
  path: '/v1/voices',
  entriesOf: (answer) => (isPlainObject(answer) ? answer['voices'] : undefined),
  voiceOf: ({ voice_id: id, name }) =>
    typeof id === 'string' && id !== ''
      ? { name: id, title: typeof name === 'string' && name !== '' ? name : id }
      : undefined,
};

/** Errors of `synthesize`: `provider_failed`. */
export function createElevenlabsSpeech(settings: RemoteSettings, keeper: Keeper = noKeeper): TtsEngine {
  const { ttsModel } = settings;
  return remoteSpeech(
    KIND,
    settings,
    ABILITIES,
    (request, audio) => ({
      ...restOf(request, ttsModel, audio),
      headers: { 'content-type': 'application/json' },
      refusal: refusalIn,
    }),
    keeper,
    { socket: streamInput(ttsModel), listing: LISTING },
  );
}

/** Errors of `transcribe`: `provider_failed`. */
export function createElevenlabsTranscriber(
  settings: RemoteSettings,
  keeper: Keeper = noKeeper,
): Transcriber {
  const name = engineOf(settings, KIND);
  const askingFor = askingAs('recogniser', name, settings, keeper);
  const transcribe: TranscribePiece = async (wav, { language, context, traceContext, whom }, signal) => {
    const form = multipart({ name: 'file', fileName: 'audio.wav', type: 'audio/wav', bytes: wav }, [
      ['model_id', settings.sttModel],
      ['timestamps_granularity', 'word'],
      ['tag_audio_events', 'false'],
      ['diarize', 'false'],
      ...(language === undefined ? [] : [['language_code', language] as const]),
      ...keytermsOf(settings.sttModel, context, LIMITS.remote.expected.keyterms),
    ]);
    const request = { path: '/v1/speech-to-text', ...form, traceContext, refusal: refusalIn };
    return servicesOf(settings).whole(request, PIECE, signal, askingFor(whom));
  };
  const recorded = remoteTranscriber(name, settings, transcribe);
  const { liveModel } = settings;
  return alsoListening(
    recorded,
    liveModel === undefined ? undefined : realtime(liveModel),
    settings,
    askingFor,
  );
}
