/** Recognition while it is spoken, on the socket of `/v1/speech-to-text/realtime`: one commit, at the end of the audio. */
import { bytesOf, RECOGNITION_RATE } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import type { Hearing } from '../../long-audio.js';
import type { HearingReader, ListeningSocket } from '../remote/listening.js';
import { type RemoteAddress, sentenceIn } from '../remote/request.js';
import { objectIn } from '../remote/socket.js';
import { pieceIn } from '../remote/transcription.js';
import { failureNamed } from './failures.js';
import { keytermsOf } from './options.js';

const chunkOf = (audio: string, commit: boolean): string =>
  JSON.stringify({
    message_type: 'input_audio_chunk',
    audio_base_64: audio,
    commit,
    sample_rate: RECOGNITION_RATE,
  });

/** The service commits by itself after 90 s. */
const MOST_SECONDS = 80;

/** Answers to a commit without words in it. */
const NOTHING_HEARD = new Set(['commit_throttled', 'insufficient_audio_activity']);
const PASSED_OVER = new Set(['session_started', 'committed_transcript', 'warning']);

function finalOf(frame: PlainObject): readonly Hearing[] {
  const { text, words = [], ...told } = pieceIn(frame);
  if (text === '') return [];
  const [start, end] = [words[0]?.start ?? 0, words.at(-1)?.end ?? 0];
  return [{ kind: 'final', segment: { text, start, end, words, ...told } }];
}

class RealtimeReader implements HearingReader {
  constructor(private readonly address: RemoteAddress) {}

  take(data: string | Buffer): ReturnType<HearingReader['take']> {
    const frame = objectIn(data);
    const type = String(frame['message_type'] ?? '');
    if (type === 'partial_transcript') {
      const { text } = pieceIn({ text: frame['text'] });
      return { heard: [{ kind: 'interim', text }] };
    }
    if (type === 'committed_transcript_with_timestamps') return { heard: finalOf(frame), ended: true };
    if (NOTHING_HEARD.has(type)) return { heard: [], ended: true };
    if (PASSED_OVER.has(type)) return { heard: [] };
    if (typeof frame['error'] === 'string') throw failureNamed(type, this.address, sentenceIn(frame));
    if (type === '') throw new ServiceError('provider_failed');
    return { heard: [] };
  }
}

export const realtime = (model: string): ListeningSocket => ({
  requestFor({ language, context }) {
    const fields = {
      model_id: model,
      audio_format: `pcm_${RECOGNITION_RATE}`,
      commit_strategy: 'manual',
      include_timestamps: 'true',
      ...(language !== undefined && { language_code: language }),
    };
    const keyterms = keytermsOf(model, context, LIMITS.remote.expected.liveKeyterms);
    const query = new URLSearchParams([...Object.entries(fields), ...keyterms]);
    return { path: `/v1/speech-to-text/realtime?${query}` };
  },
  frameOf: (samples) => chunkOf(Buffer.from(bytesOf(samples)).toString('base64'), false),
  end: chunkOf('', true),
  keepAlive: chunkOf('', false),
  mostSeconds: MOST_SECONDS,
  readerFor: (address) => new RealtimeReader(address),
});
