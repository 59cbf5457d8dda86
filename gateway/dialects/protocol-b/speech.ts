/** Protocol B's four ways to speak over REST (protocol-b.md sections 1 and 2). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FORMATS } from '../../../codecs/formats.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Caller } from '../../../contracts/ports/identity.js';
import type { LiveSynthesisRequest, SynthesisRequest, TextPart } from '../../../contracts/ports/speech.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { invalid, valid } from '../../../contracts/schemas/valid.js';
import { readAudioJson } from '../../server/audio-json.js';
import type { HttpRequest, Reply } from '../../server/port.js';
import type { Observation } from '../../server/trace-requests.js';
import { callerOf } from './auth.js';
import type { ProtocolBParts } from './parts.js';
import { identified } from './replies.js';
import { SpeechBody } from './schema.js';
import { refuseReferences, speechOptions } from './speech-params.js';
import { timedDocument, timedLines } from './timed-speech.js';

const checkBody = checker(SpeechBody);

/** Longer text is spoken as if it still arrived, so that nothing looks at all of it at once. */
const LONG_TEXT = 64 * 1024;

interface Wanted {
  readonly caller: Caller;
  readonly text: string;
  readonly synthesis: SynthesisRequest | LiveSynthesisRequest;
}

async function* partsOf(text: string): AsyncGenerator<TextPart> {
  for (let at = 0; at < text.length; at += LONG_TEXT) {
    yield { kind: 'text', text: text.slice(at, at + LONG_TEXT) };
    await nextTurn();
  }
}

/** Looks at a long text in turns of the event loop. */
async function isBlank(text: string): Promise<boolean> {
  for (let at = 0; at < text.length; at += LONG_TEXT) {
    if (/\S/u.test(text.slice(at, at + LONG_TEXT))) return false;
    await nextTurn();
  }
  return true;
}

/** The body, its text read piece by piece where it is long. Errors: `invalid_request`, those of the reader. */
async function readBody(request: HttpRequest): Promise<SpeechBody> {
  const document = await readAudioJson(request, LIMITS.body.protocolB);
  const body = valid(checkBody(withoutNulls(document.value)));
  const text = await document.text(body.text);
  if (await isBlank(text)) throw invalid('text must not be empty', 'text');
  return { ...body, text };
}

/** Key, then the body, then what it asks for. Errors: those of `speechOptions`, and of the readers. */
async function wantedBy(
  request: HttpRequest,
  parts: ProtocolBParts,
  observation: Observation,
): Promise<Wanted> {
  const caller = await callerOf(request, parts);
  const body = await readBody(request);
  const options = speechOptions(
    {
      voiceId: request.params['voice_id'] ?? '',
      modelId: body.model_id,
      languageCode: body.language_code,
      outputFormat: request.query.getAll('output_format').at(-1),
      voiceSettings: body.voice_settings,
    },
    request.headers,
    parts.vocabulary,
  );
  observation.model(options.model);
  const { text } = body;
  const spoken = text.length > LONG_TEXT ? { text: partsOf(text) } : { text };
  return { caller, text, synthesis: { ...options, ...spoken, trace: observation } };
}

const costOf = ({ text }: Wanted): Record<string, string> => ({ 'character-cost': String(text.length) });

/** `/text-to-speech/{voice_id}` and `/stream`: audio while it is synthesised. */
export async function speak(
  request: HttpRequest,
  parts: ProtocolBParts,
  observation: Observation,
): Promise<Reply> {
  const wanted = await wantedBy(request, parts, observation);
  const { caller, synthesis } = wanted;
  const audio = parts.speech.synthesize(synthesis, caller, request.signal);
  const headers = { 'content-type': FORMATS[synthesis.output.format].contentType, ...costOf(wanted) };
  return identified(request, headers, audio);
}

const timed =
  (write: typeof timedLines) =>
  async (request: HttpRequest, parts: ProtocolBParts, observation: Observation): Promise<Reply> => {
    const wanted = await wantedBy(request, parts, observation);
    const { caller, text, synthesis } = wanted;
    refuseReferences(synthesis, parts.vocabulary);
    const audio = parts.speech.synthesizeTimed(synthesis, caller, request.signal);
    return identified(request, { 'content-type': 'application/json', ...costOf(wanted) }, write(text, audio));
  };

/** `…/with-timestamps`: one object. */
export const speakTimed = timed(timedDocument);

/** `…/stream/with-timestamps`: a line a chunk. */
export const streamTimed = timed(timedLines);
