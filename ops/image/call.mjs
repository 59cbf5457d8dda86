/**
 * One call to an agent, as a caller of the image has it, with LiveKit's own client: `node - KEY < call.mjs` in a container of the image that
 * shares the network of the one that is called. Prints what was heard, and what the record holds, as JSON.
 */
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';

const require = createRequire('/srv/speech-gateway/');
const rtc = require('@livekit/rtc-node');

const BASE = 'http://127.0.0.1:8080';
const RATE = 24_000;
const FRAME = RATE / 50;
const WORDS = 'Hello. When do you open on Saturday?';
const GREETING = 'Hello, this is the bakery.';
/** The greeting, a question, and its answer. */
const CALL_MS = 15_000;
const SPEAK_AFTER_MS = 4000;
/** Of a sample; silence has less. */
const LOUD = 1000;

const headers = { authorization: `Bearer ${process.argv[2]}`, 'content-type': 'application/json' };

async function ask(method, path, body) {
  const answer = await fetch(BASE + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

const agent = async (method, path, body) => (await ask(method, `/v1/agent/${path}`, body)).json();

async function speech(text) {
  const answer = await ask('POST', '/v1/tts', { text, format: 'pcm', sample_rate: RATE });
  return new Int16Array(await answer.arrayBuffer());
}

async function invite() {
  const { agent_id: id } = await agent('POST', 'agents', { name: 'Bakery' });
  await agent('PATCH', `agents/${id}/config`, {
    prompt: { first_message_mode: 'fixed', first_message: GREETING },
  });
  await agent('POST', `agents/${id}/publish`, {});
  return agent('POST', 'sessions', { agent_id: id });
}

/** Adds up the seconds of the agent's voice. */
function listen(room) {
  const heard = { seconds: 0 };
  room.on(rtc.RoomEvent.TrackSubscribed, async (track) => {
    for await (const { data, sampleRate } of new rtc.AudioStream(track, { numChannels: 1 }))
      if (data.some((sample) => Math.abs(sample) > LOUD)) heard.seconds += data.length / sampleRate;
  });
  return heard;
}

async function microphone(room) {
  const source = new rtc.AudioSource(RATE, 1);
  const options = new rtc.TrackPublishOptions();
  options.source = rtc.TrackSource.SOURCE_MICROPHONE;
  const track = rtc.LocalAudioTrack.createAudioTrack('microphone', source);
  await room.localParticipant.publishTrack(track, options);
  return source;
}

/** Speaks the words once the greeting is over, and silence before and after; the source keeps the time. */
async function talk(source, words) {
  const from = Date.now();
  for (let at = 0; Date.now() - from < CALL_MS;) {
    const frame = new Int16Array(FRAME);
    if (Date.now() - from > SPEAK_AFTER_MS) frame.set(words.subarray(at, (at += FRAME)));
    await source.captureFrame(new rtc.AudioFrame(frame, RATE, 1, FRAME));
  }
}

/** The record of the session, once it has ended. */
async function recordOf(id) {
  for (let tries = 0; tries < 40; tries += 1) {
    const record = await agent('GET', `sessions/${id}`);
    if (record.ended_reason) return record;
    await pause(500);
  }
  throw new Error('the session does not end');
}

const words = await speech(WORDS);
const { media_url: url, token, session_id: id } = await invite();
const room = new rtc.Room();
const heard = listen(room);
await room.connect(url, token, { autoSubscribe: true, dynacast: false });
await talk(await microphone(room), words);
await room.disconnect();
const { ended_reason: reason, items } = await recordOf(id);
console.log(JSON.stringify({ heard, reason, items }));
process.exit(0);
