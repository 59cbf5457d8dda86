/** `POST …/chat/completions`: text is spoken, audio transcribed, as a stream or whole (protocol-a.md section 4). */
import type { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Caller } from '../../../../contracts/ports/identity.js';
import type { SynthesisRequest, TranscriptionRequest } from '../../../../contracts/ports/speech.js';
import { readAudioJson } from '../../../server/audio-json.js';
import { authenticate } from '../../../server/auth.js';
import type { HttpRequest, Reply } from '../../../server/port.js';
import { SSE_HEADERS } from '../../../server/sse.js';
import type { Observation } from '../../../server/trace-requests.js';
import type { Base } from '../bases.js';
import { streamErrorBody } from '../errors.js';
import type { ProtocolAParts } from '../routes.js';
import { type Answer, answerOf } from './answer.js';
import { speechCompletion, transcriptCompletion } from './completion.js';
import { type ChatEvent, hearingEvents, speechEvents } from './events.js';
import { type ChatRequest, chatRequest } from './request.js';
import { chatStream } from './stream.js';

const JSON_HEADERS = { 'content-type': 'application/json' } as const;
const FAILED = 500;

/** One call: who asks, for what, and what the answer is called. */
interface Call {
  readonly request: HttpRequest;
  readonly caller: Caller;
  readonly wanted: ChatRequest;
  readonly answer: Answer;
  readonly parts: ProtocolAParts;
  readonly observation: Observation;
}

/** The stream tells of it and ends well, so that nobody else sees that it failed. */
function failureOf(error: ServiceError, { request, parts, observation }: Call): object {
  const { status, code, cause } = error;
  const { generationId } = request;
  observation.end(status, 'failed');
  if (status >= FAILED) parts.log.warn({ generationId, code, err: cause }, 'a chat stream failed');
  return streamErrorBody(error, parts.vocabulary);
}

function streamed(events: AsyncIterable<ChatEvent>, call: Call): Reply {
  const { wanted, answer, request } = call;
  const form = {
    speaks: wanted.speak !== undefined,
    includeUsage: wanted.includeUsage,
    failure: (error: ServiceError) => failureOf(error, call),
  };
  return { status: 200, headers: SSE_HEADERS, body: chatStream(events, answer, form, request.signal) };
}

function speak(speech: SynthesisRequest, call: Call): Reply {
  const { request, caller, wanted, answer, parts, observation: trace } = call;
  const audio = parts.speech.synthesizeTimed({ ...speech, trace }, caller, request.signal);
  const events = speechEvents(audio, speech.text);
  if (wanted.stream) return streamed(events, call);
  return { status: 200, headers: JSON_HEADERS, body: speechCompletion(events, answer) };
}

async function transcribe(audio: TranscriptionRequest, call: Call): Promise<Reply> {
  const { request, caller, wanted, answer, parts, observation: trace } = call;
  const { signal } = request;
  const asked = { ...audio, trace };
  if (wanted.stream)
    return streamed(
      hearingEvents((heard) => parts.transcription.transcribe(asked, caller, signal, heard)),
      call,
    );
  const transcript = await parts.transcription.transcribe(asked, caller, signal);
  return { status: 200, headers: JSON_HEADERS, body: transcriptCompletion(transcript, answer) };
}

export async function completeChat(
  request: HttpRequest,
  base: Base,
  parts: ProtocolAParts,
  observation: Observation,
): Promise<Reply> {
  const caller = await authenticate(request, parts.keys);
  const document = await readAudioJson(request, LIMITS.body.protocolASynthesis);
  const wanted = await chatRequest({ document, headers: request.headers }, base, parts.vocabulary);
  const { model } = wanted.speak ?? wanted.transcribe;
  observation.model(model);
  const answer = answerOf(request.generationId, `${parts.vocabulary.vendor}/${model}`, parts.clock);
  const call = { request, caller, wanted, answer, parts, observation };
  return wanted.speak ? speak(wanted.speak, call) : transcribe(wanted.transcribe, call);
}
