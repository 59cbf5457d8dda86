/** Recognition while it is spoken, on the socket of `/v1/listen`: what has been understood of a stretch, until it is final. */
import { bytesOf, RECOGNITION_RATE } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import type { Hearing } from '../../long-audio.js';
import type { HearingReader, ListeningSocket } from '../remote/listening.js';
import { objectIn } from '../remote/socket.js';
import { pieceIn } from '../remote/transcription.js';
import { firstOf, writtenWords } from './answers.js';
import { expectedBy } from './expected.js';

const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0;

function hearingOf(frame: PlainObject): readonly Hearing[] {
  const channel = isPlainObject(frame['channel']) ? frame['channel'] : {};
  const { transcript, words: said, languages } = firstOf(channel['alternatives']);
  // Of several that are spoken the first is that of most words.
  const language = Array.isArray(languages) ? (languages as readonly unknown[])[0] : undefined;
  const {
    text,
    words = [],
    ...told
  } = pieceIn({ text: transcript ?? '', language, words: writtenWords(said) });
  if (frame['is_final'] !== true) return [{ kind: 'interim', text }];
  if (text === '') return [];
  const start = isTime(frame['start']) ? frame['start'] : 0;
  const end = start + (isTime(frame['duration']) ? frame['duration'] : 0);
  return [{ kind: 'final', segment: { text, start, end, words, ...told } }];
}

const reader: HearingReader = {
  take(data) {
    const frame = objectIn(data);
    switch (frame['type']) {
      case 'Results':
        return { heard: hearingOf(frame) };
      case 'Metadata':
        return { heard: [], ended: true };
      case 'Error':
        throw new ServiceError('provider_failed');
      default:
        return { heard: [] };
    }
  },
};

export const liveListen = (model: string): ListeningSocket => ({
  requestFor({ language, context }) {
    const fields = {
      model,
      encoding: 'linear16',
      sample_rate: String(RECOGNITION_RATE),
      channels: '1',
      interim_results: 'true',
      smart_format: 'true',
      language: language ?? 'multi',
    };
    const query = new URLSearchParams([...Object.entries(fields), ...expectedBy(model, context)]);
    return { path: `/v1/listen?${query}` };
  },
  frameOf: bytesOf,
  end: '{"type":"CloseStream"}',
  keepAlive: '{"type":"KeepAlive"}',
  mostSeconds: 3600,
  readerFor: () => reader,
});
