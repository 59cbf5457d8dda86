/**
 * Recognition by a remote service while it is spoken: audio goes to its socket as it comes, and what it understands comes back. Nothing is
 * retried: whoever asked has the audio, and asks for all of it (ops/adr/0075-heard-while-spoken.md).
 */
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Hearing, ListenOptions, Transcriber } from '../../long-audio.js';
import { atRecognitionRate } from '../../resampling.js';
import { Inactivity } from './inactivity.js';
import type { RemoteAddress } from './request.js';
import type { Begun, QuestionFor } from './service-pool.js';
import { type RemoteSettings, servicesOf } from './settings.js';
import { RemoteSocket, type SocketFrame, type SocketRequest } from './socket.js';
import { ToldContext } from './told-context.js';

/** What a service says on the socket. */
export interface HearingReader {
  /** What a frame brings; `ended`: all audio has been answered. Errors: `provider_failed`. */
  take(frame: SocketFrame): { readonly heard: readonly Hearing[]; readonly ended?: boolean };
}

/** How a service hears on a socket. */
export interface ListeningSocket {
  requestFor(options: Pick<ListenOptions, 'language' | 'context'>): SocketRequest;
  frameOf(samples: Int16Array): string | Uint8Array;
  /** Says that no more audio comes. */
  readonly end: string;
  /** Says that more may come. */
  readonly keepAlive: string;
  /** Longest audio that it makes no ends in by itself. */
  readonly mostSeconds: number;
  readerFor(address: RemoteAddress): HearingReader;
}

const failed = (message: string): ServiceError => new ServiceError('provider_failed', { message });

const stalled = (ms: number) => (): ServiceError =>
  failed(`The speech provider did not answer for ${ms / 1000} s`);

/** Sends all audio, and that it has ended. Errors: `provider_failed`, also for more than it hears; those of the audio. */
async function send(
  audio: AsyncIterable<Int16Array>,
  { frameOf, end, mostSeconds }: ListeningSocket,
  socket: RemoteSocket,
): Promise<void> {
  let left = mostSeconds * RECOGNITION_RATE;
  for await (const samples of audio) {
    left -= samples.length;
    if (left < 0) throw failed(`The speech provider hears ${mostSeconds} s at most while they are spoken`);
    if (samples.length > 0) await socket.send(frameOf(samples));
  }
  await socket.send(end);
}

async function* heardOn(
  socket: RemoteSocket,
  way: ListeningSocket,
  audio: AsyncIterable<Int16Array>,
  inactivity: Inactivity,
  stallMs: number,
): AsyncGenerator<Hearing> {
  const reader = way.readerFor(socket.address);
  let isOver = false;
  send(audio, way, socket).then(
    () => isOver || inactivity.expect(stallMs, stalled(stallMs)),
    (error: unknown) => inactivity.fail(error),
  );
  // One that breaks off is told by its frames.
  const keep = setInterval(
    () => void socket.send(way.keepAlive).catch(() => undefined),
    LIMITS.remote.keepAliveMs,
  );
  try {
    for await (const frame of socket.frames()) {
      const { heard, ended = false } = reader.take(frame);
      yield* heard;
      if (ended) return;
    }
    throw failed('The speech provider ended before it had heard everything');
  } finally {
    isOver = true;
    clearInterval(keep);
  }
}

/** Errors: `provider_failed`, with the status of a refusal; the reason of an abort. */
async function* listenBy(
  way: ListeningSocket,
  settings: RemoteSettings,
  asking: QuestionFor,
  told: ToldContext,
  audio: AsyncIterable<Int16Array>,
  { traceContext, language, context }: ListenOptions,
  signal: AbortSignal,
): AsyncGenerator<Hearing> {
  const { stallMs = LIMITS.remote.stallMs, context: isTold } = settings;
  const inactivity = new Inactivity(signal);
  const open = (known: Pick<ListenOptions, 'context'>): Promise<Begun<RemoteSocket>> => {
    const asked = { traceContext, ...way.requestFor({ language, ...known }) };
    return servicesOf(settings).begin(
      (address) => RemoteSocket.open(address, asked, inactivity.signal),
      inactivity.signal,
      asking,
    );
  };
  let answering: Begun<RemoteSocket> | undefined;
  let why: unknown;
  try {
    inactivity.expect(stallMs, stalled(stallMs));
    answering = await told.tell(isTold === 'off' ? undefined : context, open);
    inactivity.came();
    yield* heardOn(answering.reply, way, audio, inactivity, stallMs);
  } catch (error) {
    why = error;
    if (context) told.note(error);
    throw error;
  } finally {
    inactivity.over();
    answering?.reply.end();
    answering?.over(why);
  }
}

/** The transcriber, which also hears on that socket. */
export function alsoListening(
  transcriber: Transcriber,
  way: ListeningSocket | undefined,
  settings: RemoteSettings,
  askingFor: (whom: ListenOptions['whom']) => QuestionFor,
): Transcriber {
  if (!way) return transcriber;
  const told = new ToldContext();
  return {
    ...transcriber,
    ...(settings.liveModel !== undefined && { liveModel: settings.liveModel }),
    listen: (audio, { sampleRate = RECOGNITION_RATE, ...options }, signal) => {
      const resampled = atRecognitionRate(audio, sampleRate);
      return listenBy(way, settings, askingFor(options.whom), told, resampled, options, signal);
    },
  };
}
