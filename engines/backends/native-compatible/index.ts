/**
 * Remote engines with our own native API: `/v1/tts` and `/v1/asr` in MessagePack (docs/contract/native.md
 * 1 and 4), as served by another gateway or a fish-speech server. Reference audio is passed on, so
 * these engines clone. They run in the gateway's process, because nothing here computes.
 */
import { encode } from '@msgpack/msgpack';
import { LIMITS } from '../../../contracts/limits.js';
import { SAMPLING_FIELDS } from '../../../contracts/schemas/native-options.js';
import { type Keeper, noKeeper } from '../../../contracts/ports/parts.js';
import type { ReferenceAudio, TtsEngine, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import type { Transcriber } from '../../long-audio.js';
import { modelChoice, type Unlisted } from './model-choice.js';
import type { TranscribePiece } from '../remote/transcribe-piece.js';
import { PIECE, remoteTranscriber } from '../remote/transcription.js';
import { askingAs, engineOf, type RemoteSettings, servicesOf } from '../remote/settings.js';
import { type Abilities, remoteSpeech, type RequestedAudio } from '../remote/synthesis.js';

const KIND = 'native-compatible';
const HEADERS = { 'content-type': 'application/msgpack' };
/** Voices that are not named to the service: its default, and none if reference audio defines the speaker. */
const NAMELESS = new Set(['default', '']);
const ABILITIES: Abilities = {
  cloning: true,
  speakers: true,
  styleTags: true,
  speedRange: LIMITS.speed.native,
};

const referenceOf = ({ audio, text }: ReferenceAudio) => ({ audio, text });

/** The request's voice fields: the name or reference audio of the one speaker, or of each. */
function whoOf({ voice, speakers, references = [] }: TtsRequest) {
  const named = speakers?.filter((speaker) => typeof speaker === 'string') ?? [];
  const heard = speakers?.filter((speaker) => typeof speaker !== 'string') ?? [];
  return {
    ...(!NAMELESS.has(voice) && { reference_id: voice }),
    ...(named.length > 0 && { reference_id: named }),
    ...(references.length > 0 && { references: references.map(referenceOf) }),
    ...(heard.length > 0 && { references: heard.map((each) => each.map(referenceOf)) }),
  };
}

function bodyOf(request: TtsRequest, { format, sampleRate, mp3Bitrate }: RequestedAudio) {
  const {
    text,
    speed,
    sampling = {},
    normalize,
    normalizeLoudness,
    latency = 'normal',
    chunkLength,
  } = request;
  const sampled = Object.entries(SAMPLING_FIELDS).map(([field, name]) => [field, sampling[name]]);
  return {
    text,
    format,
    sample_rate: sampleRate,
    ...(mp3Bitrate !== undefined && { mp3_bitrate: mp3Bitrate }),
    latency,
    // Fish-speech streams only if asked to.
    streaming: true,
    prosody: {
      speed,
      ...(normalizeLoudness !== undefined && { normalize_loudness: normalizeLoudness }),
    },
    ...whoOf(request),
    ...(normalize !== undefined && { normalize }),
    ...(chunkLength !== undefined && { chunk_length: chunkLength }),
    ...Object.fromEntries(sampled.filter(([, value]) => value !== undefined)),
  };
}

/** Errors of `synthesize`: `provider_failed`. */
export function createNativeSpeech(
  settings: RemoteSettings,
  keeper: Keeper = noKeeper,
  unlisted: Unlisted = () => undefined,
): TtsEngine {
  const modelFor = modelChoice(settings, unlisted);
  return remoteSpeech(
    KIND,
    settings,
    ABILITIES,
    (request, audio) => ({
      path: '/v1/tts',
      headers: { ...HEADERS, model: modelFor(request.model) },
      body: encode(bodyOf(request, audio)),
    }),
    keeper,
    { modelFor: ({ model }) => modelFor(model) },
  );
}

/** Errors of `transcribe`: `provider_failed`. */
export function createNativeTranscriber(settings: RemoteSettings, keeper: Keeper = noKeeper): Transcriber {
  const name = engineOf(settings, KIND);
  const askingFor = askingAs('recogniser', name, settings, keeper);
  const transcribe: TranscribePiece = async (wav, { language, traceContext, whom }, signal) => {
    const body = encode({
      audio: wav,
      ignore_timestamps: false,
      ...(language !== undefined && { language }),
    });
    const headers = { ...HEADERS, model: settings.sttModel };
    const request = { path: '/v1/asr', headers, body, traceContext };
    return servicesOf(settings).whole(request, PIECE, signal, askingFor(whom));
  };
  return remoteTranscriber(name, settings, transcribe);
}
