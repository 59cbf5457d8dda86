/** Native speech over HTTP (docs/contract/native.md 1, 2): audio, and audio with the times of its words. */
import { FORMATS } from '../../../codecs/formats.js';
import { LIMITS } from '../../../contracts/limits.js';
import { describedParameters } from '../../../contracts/options/describing.js';
import { NATIVE_SPEECH } from '../../../contracts/options/native.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { SynthesisRequest } from '../../../contracts/ports/speech/speech.js';
import { authenticate } from '../../server/auth.js';
import { readJson, readMsgpack } from '../../server/bodies/body.js';
import { unknownFields, warnOfIgnored } from '../../server/ignored-fields.js';
import { AUDIO_CONTENT } from '../../server/openapi/openapi-audio.js';
import { withPlace } from '../../server/job-place.js';
import type { HttpRequest } from '../../server/port.js';
import { SSE_HEADERS } from '../../server/sse.js';
import type { Observation } from '../../server/tracing/trace-requests.js';
import { readBody, type Readers } from './bodies.js';
import type { NativeParts } from './parts.js';
import { FAILURES, type NativeHandler, type NativeRow, TRACEPARENT } from './rows.js';
import { TimedChunk, TtsBody } from './schema.js';
import { modelOf, synthesisRequest } from './speech-params.js';
import { failureEvent, timedEvents } from './timestamps.js';

const READERS: Readers<unknown> = {
  'application/json': (request) => readJson(request, LIMITS.body.nativeSynthesis),
  'application/msgpack': (request) => readMsgpack(request, LIMITS.body.nativeSynthesis),
};

interface Wanted {
  readonly request: SynthesisRequest;
  readonly caller: Caller;
}

/** Checks the key, then reads the body. Errors: those of authentication, of the body's reader and of `synthesisRequest`. */
async function readSynthesis(
  request: HttpRequest,
  { keys, admission, vocabulary, log }: NativeParts,
  observation: Observation,
): Promise<Wanted> {
  const caller = await withPlace(request, await authenticate(request, keys), admission);
  const body = await readBody(request, READERS);
  warnOfIgnored(unknownFields(body, TtsBody.properties), request.generationId, log);
  const model = modelOf(request.headers.get('model'), vocabulary.vendor);
  observation.model(model);
  return { caller, request: { ...synthesisRequest(body, model), trace: observation } };
}

const speak: NativeHandler = async (request, parts, observation) => {
  const wanted = await readSynthesis(request, parts, observation);
  return {
    status: 200,
    headers: { 'content-type': FORMATS[wanted.request.output.format].contentType },
    body: parts.speech.synthesize(wanted.request, wanted.caller, request.signal),
  };
};

const speakTimed: NativeHandler = async (request, parts, observation) => {
  const wanted = await readSynthesis(request, parts, observation);
  const audio = parts.speech.synthesizeTimed(wanted.request, wanted.caller, request.signal);
  return { status: 200, headers: SSE_HEADERS, body: timedEvents(audio), breakOff: failureEvent };
};

const SPEAKING = {
  tags: ['speech'],
  parameters: [...describedParameters(NATIVE_SPEECH, 'header'), TRACEPARENT],
  requestBody: { 'application/json': TtsBody, 'application/msgpack': TtsBody },
} as const;

export const SPEECH_ROWS: readonly NativeRow[] = [
  {
    method: 'POST',
    path: '/v1/tts',
    permission: 'speech',
    handler: speak,
    description: {
      summary: 'Speak text',
      description:
        'Audio is sent while it is synthesised. Null members count as absent, unknown ones are ignored.',
      ...SPEAKING,
      responses: { 200: { description: 'Audio', content: AUDIO_CONTENT }, ...FAILURES },
    },
  },
  {
    method: 'POST',
    path: '/v1/tts/stream/with-timestamp',
    permission: 'speech',
    handler: speakTimed,
    description: {
      summary: 'Speak text, with the times of its words',
      description:
        'Server-sent events, each with one chunk of audio. A failure in the middle is an event named `error` ' +
        'with `{status, message}`, and then the connection breaks.',
      ...SPEAKING,
      responses: {
        200: {
          description: 'Events, each with this as its data',
          content: { 'text/event-stream': TimedChunk },
        },
        ...FAILURES,
      },
    },
  },
];
