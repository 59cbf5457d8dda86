/** `POST …/chat/completions`: speaks text or transcribes audio, streamed or in one answer (docs/contract/protocol-a.md 4). */
import { audioOf } from '../../../server/bodies/audio-field.js';
import type { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { SynthesisRequest, TranscriptionRequest } from '../../../../contracts/ports/speech/speech.js';
import { Type } from '../../../../contracts/schemas/type.js';
import { readAudioJson } from '../../../server/bodies/audio-json.js';
import { authenticate } from '../../../server/auth.js';
import { withPlace } from '../../../server/job-place.js';
import type { HttpRequest, Reply } from '../../../server/port.js';
import { SSE_HEADERS } from '../../../server/sse.js';
import type { Observation } from '../../../server/tracing/trace-requests.js';
import { streamErrorBody } from '../errors.js';
import type { ProtocolAParts } from '../parts.js';
import { FAILURES, type ProtocolAHandler, type ProtocolARow } from '../rows.js';
import { type ChatAnswer, answerOf } from './answer.js';
import { speechCompletion, transcriptCompletion } from './completion.js';
import { type AnswerEvent, transcriptionEvents, speechEvents } from './events.js';
import { type CompletionRequest, chatRequest } from './request.js';
import { ChatBody, ChatCompletion } from './schema.js';
import { brokenOff, chatStream } from './stream.js';

/** Headers for JSON that is written piece by piece. */
const JSON_HEADERS = { 'content-type': 'application/json' } as const;
const FAILED = 500;

/** One request with its caller, the job it asks for, and the ids of its answer. */
interface Call {
  readonly request: HttpRequest;
  readonly caller: Caller;
  readonly wanted: CompletionRequest;
  readonly answer: ChatAnswer;
  readonly parts: ProtocolAParts;
  readonly observation: Observation;
}

/** The error for the stream. The stream itself ends normally, so the failure is observed and logged here. */
function failureOf(error: ServiceError, { request, parts, observation }: Call): object {
  const { status, code, cause } = error;
  const { generationId } = request;
  observation.end(status, 'failed');
  if (status >= FAILED) parts.log.warn({ generationId, code, err: cause }, 'a chat stream failed');
  return streamErrorBody(error, parts.vocabulary);
}

function streamed(events: AsyncIterable<AnswerEvent>, call: Call): Reply {
  const { wanted, answer, request } = call;
  const form = {
    speaks: wanted.speak !== undefined,
    includeUsage: wanted.includeUsage,
    failure: (error: ServiceError) => failureOf(error, call),
  };
  return {
    status: 200,
    headers: SSE_HEADERS,
    body: chatStream(events, answer, form, request.signal),
    breakOff: (error) => brokenOff(answer, streamErrorBody(error, call.parts.vocabulary)),
  };
}

function speak(speech: SynthesisRequest, call: Call): Reply {
  const { request, caller, wanted, answer, parts, observation: trace } = call;
  const audio = parts.speech.synthesizeTimed({ ...speech, trace }, caller, request.signal);
  const events = speechEvents(audio, speech.text);
  if (wanted.stream) return streamed(events, call);
  return {
    status: 200,
    headers: JSON_HEADERS,
    body: speechCompletion(events, answer, request.share('answer')),
  };
}

async function transcribe(audio: TranscriptionRequest, call: Call): Promise<Reply> {
  const { request, caller, wanted, answer, parts, observation: trace } = call;
  const { signal } = request;
  const asked = { ...audio, trace };
  const run = (told?: Parameters<typeof parts.transcription.transcribe>[3]) =>
    audioOf('messages', parts.transcription.transcribe(asked, caller, signal, told));
  if (wanted.stream)
    return streamed(
      transcriptionEvents((told) => run(told)),
      call,
    );
  const transcript = await run();
  return { status: 200, headers: JSON_HEADERS, body: transcriptCompletion(transcript, answer) };
}

const completeChat: ProtocolAHandler = async (request, parts, observation) => {
  const caller = await withPlace(request, await authenticate(request, parts.keys), parts.admission);
  const document = await readAudioJson(request, LIMITS.body.protocolASynthesis);
  const wanted = await chatRequest({ document, headers: request.headers }, parts.base, parts.vocabulary);
  const { model } = wanted.speak ?? wanted.transcribe;
  observation.model(model);
  const answer = answerOf(request.generationId, `${parts.vocabulary.vendor}/${model}`, parts.clock);
  const call = { request, caller, wanted, answer, parts, observation };
  return wanted.speak ? speak(wanted.speak, call) : transcribe(wanted.transcribe, call);
};

export const CHAT_ROWS: readonly ProtocolARow[] = [
  {
    method: 'POST',
    path: '/chat/completions',
    permission: 'speech',
    handler: completeChat,
    description: {
      optionHeaders: true,
      summary: 'Speak text or transcribe audio as a chat completion (protocol A)',
      description:
        'With the audio modality the last user message is spoken; with input_audio in it, transcribed. This is no language model.',
      requestBody: { 'application/json': ChatBody },
      responses: {
        200: {
          description: 'The completion, or its chunks if `stream` is set',
          content: { 'application/json': ChatCompletion, 'text/event-stream': Type.String() },
        },
        ...FAILURES,
      },
    },
  },
];
