/**
 * The Speech port: admission, voice, engine, pieces, loudness, encoding, as one pulled stream.
 *
 * Invariants: nothing is synthesised ahead of the reader beyond the kernel's credit; the slot is given
 * back on every way out; a failure leaves the stream by throwing, never by ending it (spec "Errors").
 */
import { createGain } from '../codecs/gain.js';
import type { Admission, Caller } from '../contracts/ports/identity.js';
import type { Encode } from '../contracts/ports/codec.js';
import type { Speech, SynthesisRequest } from '../contracts/ports/speech.js';
import type { VoiceLibrary } from '../contracts/ports/voices.js';
import { cast, type Role } from './casting.js';
import type { Registry } from './registry.js';
import { cutText, stripTags } from './text-pieces.js';

export interface SpeechParts {
  readonly registry: Registry;
  readonly voices: VoiceLibrary;
  readonly admission: Admission;
  readonly encode: Encode;
}

/** The samples of the whole text, piece by piece, in the engine's rate. */
async function* speak(role: Role, request: SynthesisRequest, signal: AbortSignal): AsyncGenerator<Int16Array> {
  const text = role.engine.capabilities.styleTags ? request.text : stripTags(request.text);
  const { voice, language } = role;
  for (const piece of cutText(text, request)) {
    const { sampling, references, speed } = request;
    const events = role.engine.synthesize({ text: piece, voice, language, speed, sampling, references }, signal);
    for await (const event of events) {
      if (event.kind === 'audio') yield event.samples;
    }
  }
}

export function createSpeech({ registry, voices, admission, encode }: SpeechParts): Speech {
  async function* synthesize(
    request: SynthesisRequest,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const role = await cast(request, registry, voices);
    const leave = await admission.enter(caller.workspaceId, 'synthesis_characters');
    try {
      admission.use(caller.workspaceId, 'synthesis_characters', request.text.length);
      const { sampleRate } = role.engine.capabilities;
      const pcm = createGain(request)(speak(role, request, signal));
      yield* encode(pcm, sampleRate, request.output, signal);
    } finally {
      leave();
    }
  }
  return { synthesize };
}
