/** What a caller is shown of a call: by LiveKit's streams of text, and by Pipecat's messages. */
import { DataPacket, DataStream_Chunk, DataStream_Header, DataStream_Trailer } from '@livekit/protocol';
import t from 'tap';
import { Transcripts } from '../src/calls/transcripts.js';

const FINAL = { 'lk.transcription_final': 'true' };

/** A text of `who` as the packets of a stream. */
function stream(who: string, streamId: string, text: string, attributes: Record<string, string> = FINAL) {
  const packet = (value: DataPacket['value']): Buffer =>
    Buffer.from(new DataPacket({ participantIdentity: who, value }).toBinary());
  return [
    packet({ case: 'streamHeader', value: new DataStream_Header({ streamId }) }),
    packet({ case: 'streamChunk', value: new DataStream_Chunk({ streamId, content: Buffer.from(text) }) }),
    packet({ case: 'streamTrailer', value: new DataStream_Trailer({ streamId, attributes }) }),
  ];
}

const taking = (...messages: readonly (Buffer | string)[]): Transcripts => {
  const transcripts = new Transcripts();
  for (const message of messages) transcripts.take(message);
  return transcripts;
};

t.test('LiveKit: what the user said is shown once it is final, and answers end with theirs', async (t) => {
  const shown = taking(
    ...stream('user', 'a', 'What', {}),
    ...stream('user', 'b', 'What time?'),
    ...stream('agent', 'c', 'At nine.'),
  );
  t.ok(shown.hasSaid);
  t.equal(shown.takeSaid(), 'What time?');
  t.notOk(shown.hasSaid, 'it was taken');
  t.equal(shown.answersOver, 1);
});

t.test('Pipecat: the same by its messages; an answer is over where it is broken off', async (t) => {
  const told = (type: string, data?: object): string => JSON.stringify({ label: 'rtvi-ai', type, data });
  const shown = taking(
    told('bot-ready', { version: '2.0.0' }),
    told('user-transcription', { text: 'What', final: false }),
    told('user-transcription', { text: 'What time?', final: true }),
    told('bot-stopped-speaking'),
  );
  t.equal(shown.takeSaid(), 'What time?');
  t.equal(shown.answersOver, 0, 'it may only pause');
  shown.take(told('bot-interrupted'));
  t.equal(shown.answersOver, 1);
});
