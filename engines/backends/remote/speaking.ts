/** Synthesis by a remote service: one request a piece, its audio passed on as it comes. */
import type { TtsCapabilities, TtsEngine, TtsEvent, TtsRequest } from '../../../contracts/ports/tts.js';
import { hasSound } from '../sound.js';
import { remoteSamples } from './audio.js';
import { ask, partsOf, type RemoteRequest } from './request.js';
import { type RemoteSettings, remoteVoices } from './settings.js';

export type Abilities = Pick<TtsCapabilities, 'cloning' | 'styleTags' | 'speedRange'>;

/** An engine over a service; `requestFor` words its requests. Errors of `synthesize`: `provider_failed`. */
export function remoteSpeech(
  name: string,
  settings: RemoteSettings,
  abilities: Abilities,
  requestFor: (request: TtsRequest) => RemoteRequest,
): TtsEngine {
  const { format, rate, languages } = settings;
  async function* synthesize(request: TtsRequest, signal: AbortSignal): AsyncGenerator<TtsEvent> {
    signal.throwIfAborted();
    if (!hasSound(request.text)) return;
    const { traceparent } = request;
    const reply = await ask(settings, { traceparent, ...requestFor(request) }, signal);
    for await (const samples of remoteSamples(partsOf(reply, signal), format, rate))
      yield { kind: 'audio', samples };
  }
  const own = {
    languages,
    sampleRate: rate,
    streaming: true,
    timing: 'none',
    speakers: false,
    speed: true,
  } as const;
  return { name, voices: remoteVoices(settings), capabilities: { ...own, ...abilities }, synthesize };
}
