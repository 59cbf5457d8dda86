/** Protocol B's four REST routes that speak text (docs/contract/protocol-b.md 1). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FORMATS } from '../../../codecs/formats.js';
import type { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { describedBody, describedParameters } from '../../../contracts/options/describing.js';
import { B_SPEECH } from '../../../contracts/options/protocol-b.js';
import { refuseOptions } from '../../../contracts/options/reading.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { SynthesisRequest, TimedAudio } from '../../../contracts/ports/speech/speech.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import type { TSchema } from '../../../contracts/schemas/type.js';
import { invalid, valid } from '../../../contracts/schemas/valid.js';
import { readAudioJson } from '../../server/bodies/audio-json.js';
import { withPlace } from '../../server/job-place.js';
import { AUDIO_CONTENT } from '../../server/openapi/openapi-audio.js';
import { SPEECH_FAILURES } from '../../server/openapi/openapi-errors.js';
import type { HttpRequest, Reply, ReplyBody, RouteDescription } from '../../server/port.js';
import type { Observation } from '../../server/tracing/trace-requests.js';
import { callerOf } from './auth.js';
import { errorBody, requestIds } from './errors.js';
import type { ProtocolBParts } from './parts.js';
import { failures, type ProtocolBHandler, type ProtocolBRow, VOICE } from './rows.js';
import { SpeechBody, TimedSpeech } from './schema.js';
import { refuseReferences, speechOptions } from './speech-params.js';
import { timedDocument, timedLines } from './timed-speech.js';

const checkBody = checker(SpeechBody);

/** Most characters that are examined at once, so that a long text does not block the event loop. */
const LONG_TEXT = 64 * 1024;

interface Wanted {
  readonly caller: Caller;
  readonly text: string;
  readonly synthesis: SynthesisRequest;
}

/** Yields to the event loop between parts of a long text. */
async function isBlank(text: string): Promise<boolean> {
  for (let at = 0; at < text.length; at += LONG_TEXT) {
    if (/\S/u.test(text.slice(at, at + LONG_TEXT))) return false;
    await nextTurn();
  }
  return true;
}

/** Reads the body; a long text is read piece by piece. Errors: `invalid_request`, those of the reader. */
async function readBody(request: HttpRequest): Promise<SpeechBody> {
  const document = await readAudioJson(request, LIMITS.body.protocolB);
  const body = valid(checkBody(withoutNulls(document.value)));
  refuseOptions(body, B_SPEECH);
  const text = await document.text(body.text);
  if (await isBlank(text)) throw invalid('text must not be empty', 'text');
  return { ...body, text };
}

/** Checks the key, then the body, then its options. Errors: those of `speechOptions` and of the readers. */
async function wantedBy(
  request: HttpRequest,
  parts: ProtocolBParts,
  observation: Observation,
): Promise<Wanted> {
  const caller = await withPlace(request, await callerOf(request, parts), parts.admission);
  const body = await readBody(request);
  const options = speechOptions(
    {
      voiceId: request.params['voice_id'] ?? '',
      modelId: body.model_id,
      languageCode: body.language_code,
      outputFormat: request.query.getAll('output_format').at(-1),
      fields: body,
    },
    request.headers,
    parts.vocabulary,
  );
  observation.model(options.model);
  const { text } = body;
  return { caller, text, synthesis: { ...options, text, trace: observation } };
}

/**
 * Reply with the request's id in the headers that clients read. There is no history, but clients for .NET and Unity
 * throw without the id of an item in it.
 */
const identified = (
  { generationId }: HttpRequest,
  headers: Readonly<Record<string, string>>,
  body: ReplyBody,
): Reply => ({
  status: 200,
  headers: { ...headers, ...requestIds(generationId), 'history-item-id': generationId },
  body,
});

const costOf = ({ text }: Wanted): Record<string, string> => ({ 'character-cost': String(text.length) });

/** Sends audio while it is synthesised. */
const speak: ProtocolBHandler = async (request, parts, observation) => {
  const wanted = await wantedBy(request, parts, observation);
  const { caller, synthesis } = wanted;
  const audio = parts.speech.synthesize(synthesis, caller, request.signal);
  const headers = { 'content-type': FORMATS[synthesis.output.format].contentType, ...costOf(wanted) };
  return identified(request, headers, audio);
};

type Write = (
  text: string,
  audio: AsyncIterable<TimedAudio>,
  failure: (error: ServiceError) => object,
  request: Pick<HttpRequest, 'signal' | 'share'>,
) => AsyncIterable<string>;

/** The last line of a stream that failed. Logged and recorded here, since for the server this reply ends as a success. */
function failureOf(
  error: ServiceError,
  generationId: string,
  { log }: ProtocolBParts,
  observation: Observation,
): object {
  const { status, code, cause } = error;
  observation.end(status, 'failed');
  log.warn({ generationId, code, err: cause }, 'timed speech failed midway');
  return errorBody(error, generationId);
}

const timed =
  (write: Write): ProtocolBHandler =>
  async (request, parts, observation) => {
    const wanted = await wantedBy(request, parts, observation);
    const { caller, text, synthesis } = wanted;
    const { generationId, signal } = request;
    refuseReferences(synthesis, parts.vocabulary);
    const audio = parts.speech.synthesizeTimed(synthesis, caller, signal);
    const failure = (error: ServiceError) => failureOf(error, generationId, parts, observation);
    const headers = { 'content-type': 'application/json', ...costOf(wanted) };
    return identified(request, headers, write(text, audio, failure, request));
  };

/** Replies with one JSON object. */
const speakTimed = timed((text, audio, _failure, request) =>
  timedDocument(text, audio, request.share('answer')),
);

/** Replies with one JSON line per chunk. */
const streamTimed = timed((text, audio, failure, { signal }) => timedLines(text, audio, failure, signal));

const BODY = describedBody(B_SPEECH, 'body');
const QUERY = describedParameters(B_SPEECH, 'query');

const speaking = (
  summary: string,
  description: string,
  content: Readonly<Record<string, TSchema>>,
): RouteDescription => ({
  summary,
  description,
  parameters: [VOICE, ...QUERY],
  optionHeaders: true,
  requestBody: { 'application/json': BODY },
  responses: { 200: { description: 'What was spoken', content }, ...failures(...SPEECH_FAILURES) },
});

const SENT = 'Audio is sent while it is synthesised. Native options come as headers, which win.';
const TIMED = 'Alignments are null if the engine has no timing. Reference audio is refused.';
const TIMED_CONTENT = { 'application/json': TimedSpeech };
const SPEAK = '/v1/text-to-speech/{voice_id?}';

export const SPEECH_ROWS: readonly ProtocolBRow[] = [
  {
    method: 'POST',
    path: SPEAK,
    permission: 'speech',
    handler: speak,
    description: speaking('Speak text (protocol B)', SENT, AUDIO_CONTENT),
  },
  {
    method: 'POST',
    path: `${SPEAK}/stream`,
    permission: 'speech',
    handler: speak,
    description: speaking('Speak text, streamed (protocol B)', SENT, AUDIO_CONTENT),
  },
  {
    method: 'POST',
    path: `${SPEAK}/with-timestamps`,
    permission: 'speech',
    handler: speakTimed,
    description: speaking('Speak text, with the times of its characters (protocol B)', TIMED, TIMED_CONTENT),
  },
  {
    method: 'POST',
    path: `${SPEAK}/stream/with-timestamps`,
    permission: 'speech',
    handler: streamTimed,
    description: speaking(
      'Speak text, with the times of its characters, streamed (protocol B)',
      `A JSON object a line; times count from the start of the stream. ${TIMED}`,
      TIMED_CONTENT,
    ),
  },
];
