/** Synthesis by a remote service: one request per piece, whose audio is passed on as it arrives. */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type {
  TtsCapabilities,
  TtsEngine,
  TtsEvent,
  TtsRequest,
} from '../../../contracts/ports/speech/tts.js';
import { LANGUAGES } from '../../../contracts/speech/languages.js';
import { hasSound } from '../sound.js';
import { remoteSamples } from './audio.js';
import { Inactivity } from './inactivity.js';
import { discard, headerOf, partsOf, type RemoteReply, type RemoteRequest } from './request.js';
import { type RemoteSettings, remoteVoices, servicesOf } from './settings.js';
import type { Asked } from './service-pool.js';

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

/**
 * An engine over a service; `requestFor` builds its requests. Errors of `synthesize`: `provider_failed`, also if words
 * give no samples, or any text more than `LIMITS.remote.pieceAudioMs`.
 */
export function remoteSpeech(
  name: string,
  settings: RemoteSettings,
  abilities: Abilities,
  requestFor: (request: TtsRequest) => RemoteRequest,
): TtsEngine {
  const { format, rate, languages, stallMs = LIMITS.remote.stallMs } = settings;
  const services = servicesOf(settings);
  /** Most samples of a piece: longer than anybody takes to say it. */
  const most = (LIMITS.remote.pieceAudioMs / 1000) * rate;
  /** The bytes of the answer. An answer that stops in the middle is ended, and its connection with it. */
  async function* answer(request: TtsRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { traceContext } = request;
    const inactivity = new Inactivity(signal);
    let asked: Asked | undefined;
    try {
      inactivity.expect(LIMITS.remote.firstByteMs, () => new ServiceError('first_byte_timeout'));
      asked = await services.ask({ traceContext, ...requestFor(request) }, inactivity.signal);
      const { reply } = asked;
      checkType(reply);
      yield* inactivity.watch(partsOf(reply, inactivity.signal), stallMs, () =>
        failed(`The speech provider stopped in the middle for ${stallMs / 1000} s`),
      );
    } finally {
      inactivity.over();
      asked?.over();
    }
  }
  async function* synthesize(request: TtsRequest, signal: AbortSignal): AsyncGenerator<TtsEvent> {
    signal.throwIfAborted();
    if (!hasSound(request.text)) return;
    let heard = 0;
    for await (const samples of remoteSamples(answer(request, signal), format, rate)) {
      heard += samples.length;
      if (heard > most) throw failed('The speech provider answered too much audio');
      yield { kind: 'audio', samples };
    }
    if (heard === 0 && WORDS.test(request.text)) throw failed('The speech provider answered without audio');
  }
  const own = {
    languages: languages ?? LANGUAGES,
    anyScript: languages === undefined,
    sampleRate: rate,
    streaming: true,
    timing: 'none',
    speed: true,
  } as const;
  return { name, voices: remoteVoices(settings), capabilities: { ...own, ...abilities }, synthesize };
}
