/** `POST …/audio/transcriptions` (docs/contract/protocol-a.md 2): the whole transcript, or a stream of events. */
import { Type } from '../../../contracts/schemas/type.js';
import { authenticate } from '../../server/auth.js';
import { audioOf } from '../../server/bodies/audio-field.js';
import { withPlace } from '../../server/job-place.js';
import { warnOfIgnored } from '../../server/ignored-fields.js';
import type { Transcribe } from './transcript-stream.js';
import { FAILURES, type ProtocolAHandler, type ProtocolARow } from './rows.js';
import { TranscriptionBody, TranscriptionForm, TranscriptionResult } from './schema.js';
import { needsWords, transcriptReply, transcriptStream } from './transcripts.js';
import { readTranscriptionInput } from './uploads.js';

const transcribe: ProtocolAHandler = async (request, parts, observation) => {
  const { base, transcription, keys, admission, vocabulary, log } = parts;
  const caller = await withPlace(request, await authenticate(request, keys), admission);
  const input = await readTranscriptionInput(request, vocabulary);
  warnOfIgnored(input.ignored, request.generationId, log);
  const { audio, audioField, model, language, format } = input;
  observation.model(model);
  const hint = language === '' ? {} : { language };
  const asked = { audio, model, words: needsWords(format), trace: observation, ...hint };
  const run: Transcribe = (told) =>
    audioOf(audioField, transcription.transcribe(asked, caller, request.signal, told));
  if (input.stream) return transcriptStream(run, vocabulary);
  const named = base.groqId ? { groqId: `req_${request.generationId}` } : {};
  return transcriptReply(await run(() => undefined), { ...input, ...named });
};

export const TRANSCRIPTION_ROWS: readonly ProtocolARow[] = [
  {
    method: 'POST',
    path: '/audio/transcriptions',
    permission: 'speech',
    handler: transcribe,
    description: {
      summary: 'Transcribe audio (protocol A)',
      description: 'wav, mp3, m4a, ogg, webm or flac; recognised by its bytes.',
      requestBody: { 'multipart/form-data': TranscriptionForm, 'application/json': TranscriptionBody },
      responses: {
        200: {
          description: 'The transcript in the form that was asked for',
          content: {
            'application/json': TranscriptionResult,
            'text/plain': Type.String(),
            'application/x-subrip': Type.String(),
            'text/vtt': Type.String(),
            'text/event-stream': Type.String(),
          },
        },
        ...FAILURES,
      },
    },
  },
];
