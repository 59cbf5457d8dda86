/** Protocol A's REST handlers: speech, transcriptions, models. */
import { FORMATS } from '../../../codecs/formats.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import type { ClientSecrets } from '../../../contracts/ports/client-secrets.js';
import type { KeyAuthority } from '../../../contracts/ports/identity.js';
import type { Speech, Transcription } from '../../../contracts/ports/speech.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { authenticate } from '../../server/auth.js';
import { readJson } from '../../server/body.js';
import type { HttpRequest, Reply } from '../../server/port.js';
import type { Observation } from '../../server/trace-requests.js';
import type { Base } from './bases.js';
import type { Transcribe } from './heard.js';
import { modelList } from './models.js';
import { speechRequest } from './speech-params.js';
import { needsWords, transcriptReply, transcriptStream } from './transcripts.js';
import { readTranscriptionInput } from './uploads.js';

export interface ProtocolAParts {
  readonly speech: Speech;
  readonly transcription: Transcription;
  readonly keys: KeyAuthority;
  readonly clientSecrets: ClientSecrets;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly log: Log;
}

export async function speak(
  request: HttpRequest,
  base: Base,
  { speech, keys, vocabulary }: ProtocolAParts,
  observation: Observation,
): Promise<Reply> {
  const caller = await authenticate(request, keys);
  const body = await readJson(request, LIMITS.body.protocolASynthesis);
  const wanted = speechRequest({ body, headers: request.headers }, base, vocabulary);
  observation.model(wanted.model);
  return {
    status: 200,
    headers: { 'content-type': FORMATS[wanted.output.format].contentType },
    body: speech.synthesize({ ...wanted, trace: observation }, caller, request.signal),
  };
}

export async function transcribe(
  request: HttpRequest,
  _base: Base,
  { transcription, keys, vocabulary }: ProtocolAParts,
  observation: Observation,
): Promise<Reply> {
  const caller = await authenticate(request, keys);
  const input = await readTranscriptionInput(request, vocabulary);
  const { audio, model, language, format } = input;
  observation.model(model);
  const hint = language === '' ? {} : { language };
  const asked = { audio, model, words: needsWords(format), trace: observation, ...hint };
  const run: Transcribe = (heard) => transcription.transcribe(asked, caller, request.signal, heard);
  if (input.stream) return transcriptStream(run);
  return transcriptReply(await run(() => undefined), input);
}

/** Open to everybody: clients send a key or none. */
export const listModels = (
  request: HttpRequest,
  base: Base,
  { vocabulary }: ProtocolAParts,
): Promise<Reply> =>
  Promise.resolve({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(modelList(request.query, vocabulary.vendor, base.path)),
  });
