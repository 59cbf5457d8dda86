/** Synthesis by a remote service: one request per piece, or for a whole text that it encodes, whose audio is passed on as it arrives. */
import { ServiceError } from '../../../contracts/errors.js';
import type { OutputFormat } from '../../../contracts/audio.js';
import { LIMITS } from '../../../contracts/limits.js';
import type {
  TtsCapabilities,
  TtsEngine,
  TtsEvent,
  TtsRequest,
} from '../../../contracts/ports/speech/tts.js';
import { LANGUAGES } from '../../../contracts/speech/languages.js';
import type { Keeper } from '../../../contracts/ports/parts.js';
import { hasSound } from '../sound.js';
import { remoteSamples } from './audio.js';
import { asPromised } from './encoded.js';
import { Inactivity } from './inactivity.js';
import { discard, headerOf, partsOf, type RemoteReply, type RemoteRequest } from './request.js';
import { askingAs, type RemoteSettings, remoteVoices, servicesOf } from './settings.js';
import type { BegunReply, QuestionFor, ServicePool } from './service-pool.js';

export type Abilities = Pick<TtsCapabilities, 'cloning' | 'speakers' | 'styleTags' | 'speedRange'>;

const failed = (message: string): ServiceError => new ServiceError('provider_failed', { message });

/** A page or an error with status 200 would be spoken as noise. */
const NO_AUDIO = /^\s*(text\/|application\/(json|xml|problem))/i;

function checkType(reply: RemoteReply): void {
  if (!NO_AUDIO.test(headerOf(reply, 'content-type'))) return;
  discard(reply);
  throw failed('The speech provider did not answer audio');
}

/** Text with one of these must give audio; text of other signs alone need not. */
const WORDS = /[\p{L}\p{N}]/u;

/** The format in which a service is asked to answer. */
export type RequestedAudio = OutputFormat;

/** A service, and how it is asked. */
interface Service {
  readonly settings: RemoteSettings;
  readonly pool: ServicePool;
  requestFor(request: TtsRequest, audio: RequestedAudio): RemoteRequest;
  askingFor(whom: TtsRequest['whom']): QuestionFor;
}

type Begun = (asked: BegunReply) => void;

/** The bytes of the answer. An answer that stops in the middle is ended, and its connection with it. */
async function* answer(
  { settings, pool, requestFor, askingFor }: Service,
  request: TtsRequest,
  audio: RequestedAudio,
  signal: AbortSignal,
  begun: Begun,
): AsyncGenerator<Uint8Array> {
  const { traceContext, whom } = request;
  const { stallMs = LIMITS.remote.stallMs } = settings;
  const inactivity = new Inactivity(signal);
  const asked = { traceContext, ...requestFor(request, audio) };
  try {
    inactivity.expect(LIMITS.remote.firstByteMs, () => new ServiceError('first_byte_timeout'));
    const answering = await pool.ask(asked, inactivity.signal, askingFor(whom));
    begun(answering);
    const { reply } = answering;
    checkType(reply);
    yield* inactivity.watch(partsOf(reply, inactivity.signal), stallMs, () =>
      failed(`The speech provider stopped in the middle for ${stallMs / 1000} s`),
    );
  } finally {
    inactivity.over();
  }
}

const silent = (): ServiceError => failed('The speech provider answered without audio');

/** The samples of the answer. Errors: also if there are too many, or words give none. */
async function* spoken(
  service: Service,
  request: TtsRequest,
  signal: AbortSignal,
  begun: Begun,
): AsyncGenerator<TtsEvent> {
  const { format, rate } = service.settings;
  const parts = answer(service, request, { format, sampleRate: rate }, signal, begun);
  /** Longer than anybody takes to say a piece. */
  const most = (LIMITS.remote.pieceAudioMs / 1000) * rate;
  let heard = 0;
  for await (const samples of remoteSamples(parts, format, rate)) {
    heard += samples.length;
    if (heard > most) throw failed('The speech provider answered too much audio');
    yield { kind: 'audio', samples };
  }
  if (heard === 0 && WORDS.test(request.text)) throw silent();
}

/** The bytes of the answer in a format of the client's. Errors: also if it is in another, or words give none. */
async function* encoded(
  service: Service,
  request: TtsRequest,
  output: OutputFormat,
  signal: AbortSignal,
  begun: Begun,
): AsyncGenerator<Uint8Array> {
  let heard = false;
  for await (const bytes of asPromised(answer(service, request, output, signal, begun), output)) {
    heard = true;
    yield bytes;
  }
  if (!heard && WORDS.test(request.text)) throw silent();
}

/** The same, which tells what became of the question. */
async function* told<T>(
  request: TtsRequest,
  signal: AbortSignal,
  work: (begun: Begun) => AsyncIterable<T>,
): AsyncGenerator<T> {
  signal.throwIfAborted();
  if (!hasSound(request.text)) return;
  let asked: BegunReply | undefined;
  let why: unknown;
  try {
    yield* work((begun) => (asked = begun));
  } catch (error) {
    why = error;
    throw error;
  } finally {
    asked?.over(why);
  }
}

/**
 * An engine over a service; `requestFor` builds its requests. Errors of `synthesize`: `provider_failed`, also if words
 * give no samples, or any text more than `LIMITS.remote.pieceAudioMs`.
 */
export function remoteSpeech(
  name: string,
  settings: RemoteSettings,
  abilities: Abilities,
  requestFor: Service['requestFor'],
  keeper: Keeper,
): TtsEngine {
  const { rate, languages, passThrough = [] } = settings;
  const askingFor = askingAs('voice', name, settings, keeper);
  const service = { settings, pool: servicesOf(settings), requestFor, askingFor };
  const own = {
    languages: languages ?? LANGUAGES,
    anyScript: languages === undefined,
    sampleRate: rate,
    streaming: true,
    timing: 'none',
    speed: true,
    ownLoudness: true,
    encodes: passThrough,
  } as const;
  return {
    name,
    voices: remoteVoices(settings),
    capabilities: { ...own, ...abilities },
    synthesize: (request, signal) =>
      told(request, signal, (begun) => spoken(service, request, signal, begun)),
    encoded: (request, output, signal) =>
      told(request, signal, (begun) => encoded(service, request, output, signal, begun)),
  };
}
