/**
 * One gateway at each of its jobs, with its default engines: it speaks, transcribes, speaks over a socket, holds a realtime
 * session and a call. This loads all of its native code, so test/acceptance runs it on other versions of Node as well.
 */
import t from '../../fixtures/tap.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { shownBy, Talks } from '../../fixtures/conversation/conversation.js';
import { LiveClient } from '../../fixtures/native/live.js';
import { shortOrLong } from '../../fixtures/long.js';
import { realtime, TRANSCRIPTION } from '../../fixtures/protocol-a/realtime-events.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);

const WORDS = 'Your appointment is confirmed for Tuesday.';
const HEARD = /appointment is confirmed/i;

const { talks } = await Talks.shared(t, 'speech');
const { gateway } = talks;
t.comment(/HTTP stack: [^"]*/.exec(gateway.stderr())?.[0] ?? `Node ${process.version}`);

const post = async (
  path: string,
  body: string | FormData,
  headers: Record<string, string> = {},
): Promise<Response> => {
  const response = await fetch(gateway.base + path, {
    method: 'POST',
    body,
    headers: { ...gateway.authorization, ...headers },
  });
  t.equal(response.status, 200, path);
  return response;
};

const speak = async (format: string): Promise<Uint8Array<ArrayBuffer>> => {
  const body = JSON.stringify({ text: WORDS, format });
  return new Uint8Array(
    await (await post('/v1/tts', body, { 'content-type': 'application/json' })).arrayBuffer(),
  );
};

/** In the short form one is transcribed; that each is understood is tested in test/contract/speech/round-trip.test.ts. */
const TRANSCRIBED = shortOrLong(['opus'], ['mp3', 'wav', 'opus']);

for (const format of ['mp3', 'wav', 'opus'])
  t.test(`it speaks, and understands its own ${format}`, async (t) => {
    const audio = await speak(format);
    t.ok(audio.length > 5_000, `${audio.length} bytes`);
    if (!TRANSCRIBED.includes(format)) return;
    const form = new FormData();
    form.set('audio', new Blob([audio]), `speech.${format}`);
    const { text } = (await (await post('/v1/asr', form)).json()) as { text: string };
    t.match(text, HEARD);
  });

t.test('it speaks over a socket', async (t) => {
  const client = new LiveClient(gateway, { model: 's1' });
  await client.opened();
  client.start().text(WORDS).stop();
  await client.finished();
  const bytes = client.events.reduce((sum, { audio }) => sum + (audio?.length ?? 0), 0);
  t.ok(bytes > 16_000, `${bytes} bytes of audio`);
  client.socket.terminate();
});

t.test('it transcribes in a realtime session', async (t) => {
  const { connect, speech } = realtime(gateway);
  const client = await connect({ query: '?intent=transcription' });
  client.send(
    { type: 'input_audio_buffer.append', audio: (await speech(WORDS)).toString('base64') },
    { type: 'input_audio_buffer.commit' },
  );
  const { transcript } = await client.next(`${TRANSCRIPTION}.completed`);
  t.match(transcript, HEARD);
  client.leave();
});

t.test('it holds a call', async () => {
  const meeting = await talks.meet({
    prompt: { first_message_mode: 'fixed', first_message: 'Hello there.' },
  });
  await meeting.caller.untilHeard(0);
  talks.model.answer(() => 'Then we shall see you on Tuesday.');
  await talks.tell(meeting, WORDS, { heard: /appointment|confirmed|tuesday/i });
  await until('it is answered', () => shownBy(meeting.caller, 'agent').some((text) => /see you/.test(text)));
  meeting.caller.hangUp();
});
