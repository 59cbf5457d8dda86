/** Synthesis by a remote service: one request per piece, or for a whole text that it encodes, whose audio is passed on as it arrives. */
import { ServiceError } from '../../../contracts/errors.js';
import type { OutputFormat } from '../../../contracts/audio.js';
import { LIMITS } from '../../../contracts/limits.js';
import type {
  EngineVoice,
  TtsCapabilities,
  TtsEngine,
  TtsEvent,
  TtsRequest,
} from '../../../contracts/ports/speech/tts.js';
import { type LanguageCode, LANGUAGES } from '../../../contracts/speech/languages.js';
import type { Keeper } from '../../../contracts/ports/parts.js';
import { hasSound } from '../sound.js';
import { remoteSamples } from './audio.js';
import { asPromised } from './encoded.js';
import { Inactivity } from './inactivity.js';
import {
  broken,
  discard,
  headerOf,
  type RemoteAddress,
  type RemoteReply,
  type RemoteRequest,
} from './request.js';
import { askingAs, engineOf, type RemoteSettings, servicesOf } from './settings.js';
import type { Begun, QuestionFor, ServicePool } from './service-pool.js';
import { RemoteSocket, type SocketFrame, type SocketRequest } from './socket.js';
import { SpareSockets } from './spare-sockets.js';
import { type VoicesKnown, voicesOf } from './voices.js';

/** `speed`: default true. */
export type Abilities = Pick<TtsCapabilities, 'cloning' | 'speakers' | 'styleTags' | 'speedRange'> &
  Partial<Pick<TtsCapabilities, 'speed' | 'timing'>>;

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

/** What a service says of a text on its socket. `take`: what a frame brings; undefined: all has been said. */
export interface SpeakingReader {
  /** Errors: `provider_failed`. */
  take(frame: SocketFrame): readonly TtsEvent[] | undefined;
  /** What is known once all has been said. */
  rest(): readonly TtsEvent[];
}

/** How a service speaks on a socket: one for each piece of text, which is closed after it. */
export interface SpeakingSocket {
  /** Whether the request is spoken there, and not by REST. */
  suits(request: TtsRequest): boolean;
  requestFor(request: TtsRequest, rate: number): SocketRequest;
  /** The frames that say all of the text. */
  framesOf(request: TtsRequest): readonly string[];
  readerFor(request: TtsRequest, rate: number, address: RemoteAddress): SpeakingReader;
}

/** A service, and how it is asked. */
interface Service {
  readonly settings: RemoteSettings;
  readonly pool: ServicePool;
  readonly socket?: SpeakingSocket | undefined;
  readonly spares: SpareSockets;
  requestFor(request: TtsRequest, audio: RequestedAudio): RemoteRequest;
  askingFor(whom: TtsRequest['whom']): QuestionFor;
}

type OnBegun = (asked: Begun<unknown>) => void;

const late = (): ServiceError => new ServiceError('first_byte_timeout');

const stalled = (ms: number) => (): ServiceError =>
  failed(`The speech provider stopped in the middle for ${ms / 1000} s`);

/** The bytes of the answer. An answer that stops in the middle is ended, and its connection with it. */
async function* answer(
  { settings, pool, requestFor, askingFor }: Service,
  request: TtsRequest,
  audio: RequestedAudio,
  signal: AbortSignal,
  begun: OnBegun,
): AsyncGenerator<Uint8Array> {
  const { traceContext, whom } = request;
  const { stallMs = LIMITS.remote.stallMs } = settings;
  const inactivity = new Inactivity(signal);
  const asked = { traceContext, ...requestFor(request, audio) };
  try {
    inactivity.expect(LIMITS.remote.firstByteMs, late);
    const answering = await pool.ask(asked, inactivity.signal, askingFor(whom));
    begun(answering);
    const { reply } = answering;
    checkType(reply);
    yield* inactivity.watch(reply.body as AsyncIterable<Uint8Array>, stallMs, stalled(stallMs));
  } catch (error) {
    inactivity.signal.throwIfAborted();
    throw error instanceof ServiceError ? error : broken(error);
  } finally {
    inactivity.over();
  }
}

const silent = (): ServiceError => failed('The speech provider answered without audio');

/** The samples of the answer. */
async function* byRest(
  service: Service,
  request: TtsRequest,
  signal: AbortSignal,
  begun: OnBegun,
): AsyncGenerator<TtsEvent> {
  const { format, rate } = service.settings;
  const parts = answer(service, request, { format, sampleRate: rate }, signal, begun);
  for await (const samples of remoteSamples(parts, format, rate)) yield { kind: 'audio', samples };
}

/** Resolves also if the service takes no more: its last frame, or how it has closed, says why. */
async function sent(socket: RemoteSocket, frames: readonly string[]): Promise<void> {
  try {
    for (const frame of frames) await socket.send(frame);
  } catch {
    // Told by what is read.
  }
}

/** What the service says of the text on that socket. `came`: called with each frame. */
async function* said(
  socket: RemoteSocket,
  { settings: { rate, stallMs = LIMITS.remote.stallMs } }: Service,
  way: SpeakingSocket,
  request: TtsRequest,
  inactivity: Inactivity,
  came: () => void,
): AsyncGenerator<TtsEvent> {
  await sent(socket, way.framesOf(request));
  const reader = way.readerFor(request, rate, socket.address);
  for await (const frame of inactivity.watch(socket.frames(), stallMs, stalled(stallMs), true)) {
    came();
    const events = reader.take(frame);
    if (!events) return yield* reader.rest();
    yield* events;
  }
  throw failed('The speech provider ended in the middle of the speech');
}

/**
 * What comes of the text on a socket of its own, which ends with this. One that was open before, and turns out to be dead, is replaced once
 * if nothing came.
 */
async function* bySocket(
  service: Service,
  way: SpeakingSocket,
  request: TtsRequest,
  signal: AbortSignal,
  begun: OnBegun,
): AsyncGenerator<TtsEvent> {
  const { settings, pool, spares, askingFor } = service;
  const { traceContext, whom, demand } = request;
  const inactivity = new Inactivity(signal);
  const asked = { traceContext, ...way.requestFor(request, settings.rate) };
  const opened = (address: RemoteAddress) => RemoteSocket.open(address, asked, inactivity.signal);
  let spare: RemoteSocket | undefined;
  let socket: RemoteSocket | undefined;
  let hasCome = false;
  const say = (on: RemoteSocket) =>
    said(on, service, way, request, inactivity, () => {
      // Its next sentence is about to be made.
      if (!hasCome && demand?.isLive) spares.prepare(on.address, asked);
      hasCome = true;
    });
  try {
    inactivity.expect(LIMITS.remote.firstByteMs, late);
    const answering = await pool.begin(
      async (address) => (spare = await spares.take(address, asked, inactivity.signal)) ?? opened(address),
      inactivity.signal,
      askingFor(whom),
    );
    begun(answering);
    socket = answering.reply;
    try {
      yield* say(socket);
    } catch (error) {
      if (!spare || hasCome || inactivity.signal.aborted) throw error;
      spare.end();
      socket = await opened(spare.address);
      yield* say(socket);
    }
  } finally {
    inactivity.over();
    socket?.end();
  }
}

/** Passes the events on. Errors: also if there is too much audio, or words give none. */
async function* spoken(
  service: Service,
  request: TtsRequest,
  signal: AbortSignal,
  begun: OnBegun,
): AsyncGenerator<TtsEvent> {
  const { socket, settings } = service;
  /** Longer than anybody takes to say a piece. */
  const most = (LIMITS.remote.pieceAudioMs / 1000) * settings.rate;
  let heard = 0;
  const events = socket?.suits(request)
    ? bySocket(service, socket, request, signal, begun)
    : byRest(service, request, signal, begun);
  for await (const event of events) {
    if (event.kind === 'audio') heard += event.samples.length;
    if (heard > most) throw failed('The speech provider answered too much audio');
    yield event;
  }
  if (heard === 0 && WORDS.test(request.text)) throw silent();
}

/** The bytes of the answer in a format of the client's. Errors: also if it is in another, or words give none. */
async function* encoded(
  service: Service,
  request: TtsRequest,
  output: OutputFormat,
  signal: AbortSignal,
  begun: OnBegun,
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
  work: (begun: OnBegun) => AsyncIterable<T>,
): AsyncGenerator<T> {
  signal.throwIfAborted();
  if (!hasSound(request.text)) return;
  let asked: Begun<unknown> | undefined;
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

const languagesOfAll = (voices: readonly EngineVoice[]): readonly LanguageCode[] => [
  ...new Set(voices.flatMap(({ languages }) => languages)),
];

/** What only some services have. */
interface MoreWays extends VoicesKnown {
  readonly socket?: SpeakingSocket;
  /** Default: the configured model. */
  readonly modelFor?: TtsEngine['modelFor'];
}

/**
 * An engine over a service; `requestFor` builds its requests. Errors of `synthesize`: `provider_failed`, also if words
 * give no samples, or any text more than `LIMITS.remote.pieceAudioMs`.
 */
export function remoteSpeech(
  kind: string,
  settings: RemoteSettings,
  abilities: Abilities,
  requestFor: Service['requestFor'],
  keeper: Keeper,
  { socket, modelFor = () => settings.ttsModel, ...known }: MoreWays = {},
): TtsEngine {
  const { rate, languages, passThrough = [] } = settings;
  const name = engineOf(settings, kind);
  const askingFor = askingAs('voice', name, settings, keeper);
  const pool = servicesOf(settings);
  const service = { settings, pool, requestFor, askingFor, socket, spares: new SpareSockets() };
  const voices = voicesOf(settings, known);
  const own = {
    languages: languages ?? (known.languagesOf ? languagesOfAll(voices.all) : LANGUAGES),
    anyScript: languages === undefined && !known.languagesOf,
    sampleRate: rate,
    streaming: true,
    timing: 'none',
    speed: true,
    ownLoudness: true,
    encodes: passThrough,
  } as const;
  return {
    name,
    modelFor,
    get voices() {
      return voices.all;
    },
    ...(voices.learn && { learnVoices: (signal) => voices.learn!(signal) }),
    capabilities: { ...own, ...abilities },
    synthesize: (request, signal) =>
      told(request, signal, (begun) => spoken(service, request, signal, begun)),
    encoded: (request, output, signal) =>
      told(request, signal, (begun) => encoded(service, request, output, signal, begun)),
  };
}
