/**
 * An unmodified LiveKit client for Node in a conversation with the embedded engines: it plays recorded speech, hears the
 * agent, interrupts it, causes a webhook call, is hung up on; the record agrees.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  AudioFrame,
  AudioSource,
  AudioStream,
  dispose,
  LocalAudioTrack,
  Room,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
} from 'rtc-node-1';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { messagesOf, Talks } from '../../dist/test/fixtures/conversation/conversation.js';
import { EMBEDDED } from '../../dist/test/fixtures/gateway.js';
import { said, toolSaid } from '../../dist/test/fixtures/chat/model.js';
import { until } from '../../dist/test/fixtures/until.js';

const RATE = 24_000;
const FRAME = RATE / 100;
const AUDIBLE = 200;

const asked = [];
const shop = createServer((request, response) => {
  asked.push(request.url);
  response.end('sunny');
}).listen(0, '127.0.0.1');
await once(shop, 'listening');
t.teardown(() => shop.close());
const host = `127.0.0.1:${shop.address().port}`;

const talks = await Talks.start(t, { ...EMBEDDED, OUTBOUND_ALLOW: host });

const LONG =
  'It is sunny today. The wind comes from the west, and it will stay warm until the evening. ' +
  'Tomorrow there may be some clouds in the morning, and a little rain in the afternoon. ' +
  'On Sunday the sun comes back, and the whole week will be dry and warm again.';

talks.model.answer((messages) => {
  if (toolSaid(messages) !== undefined) return LONG;
  const text = said(messages).toLowerCase();
  if (text.includes('weather')) return { calls: { Weather: { city: 'Rome' } } };
  if (text.includes('bye')) return { calls: { hang_up_call: {} } };
  return 'Of course. I am waiting.';
});

/** The client's side: what it hears and is told, and a microphone that never stops. */
class Client {
  room = new Room();
  events = [];
  shown = [];
  states = [];
  /** When something was heard that is no silence. */
  heard = [];
  left = false;
  #source = new AudioSource(RATE, 1);
  #queue = [];
  #open = true;

  async join({ media_url: url, token }) {
    const { room } = this;
    room.on(RoomEvent.Disconnected, () => (this.left = true));
    room.on(RoomEvent.DataReceived, (payload) =>
      this.events.push(JSON.parse(Buffer.from(payload).toString())),
    );
    room.on(RoomEvent.ParticipantAttributesChanged, (changed) => {
      if (changed['lk.agent.state']) this.states.push(changed['lk.agent.state']);
    });
    room.on(RoomEvent.TrackSubscribed, (track) => void this.#listen(track));
    room.registerTextStreamHandler('lk.transcription', (reader, from) => {
      const show = (text) => this.shown.push({ from: from.identity, text, ...reader.info.attributes });
      // A text that is still being sent when the client leaves breaks off: nobody reads it.
      reader.readAll().then(show, () => undefined);
    });
    await room.connect(url, token, { autoSubscribe: true, dynacast: false });
    const options = new TrackPublishOptions();
    options.source = TrackSource.SOURCE_MICROPHONE;
    const track = LocalAudioTrack.createAudioTrack('microphone', this.#source);
    await room.localParticipant.publishTrack(track, options);
    void this.#speak();
  }

  async #listen(track) {
    if (track.kind !== TrackKind.KIND_AUDIO) return;
    for await (const { data } of new AudioStream(track, RATE, 1)) {
      const power = data.reduce((sum, sample) => sum + sample * sample, 0) / data.length;
      if (Math.sqrt(power) > AUDIBLE) this.heard.push(performance.now());
    }
  }

  async #speak() {
    const silence = new Int16Array(FRAME);
    while (this.#open) {
      const frame = this.#queue.shift() ?? silence;
      await this.#source
        .captureFrame(new AudioFrame(frame, RATE, 1, FRAME))
        .catch(() => (this.#open = false));
    }
  }

  async say(samples) {
    for (let at = 0; at + FRAME <= samples.length; at += FRAME)
      this.#queue.push(samples.slice(at, at + FRAME));
    await until('it is said', () => this.#queue.length === 0);
  }

  async leave() {
    this.#open = false;
    await this.room.disconnect();
  }
}

t.test('a conversation with rtc-node', async (t) => {
  const made = await talks.call('tools', {
    body: {
      ...{ name: 'Weather', description: 'The weather of a city', method: 'GET' },
      ...{ url: `http://${host}/{{city}}`, arguments: [{ name: 'city', description: 'Which' }] },
    },
  });
  const agent = await talks.agent({
    prompt: { first_message_mode: 'fixed', first_message: 'Hello. How can I help you?' },
    conversation: { eagerness: 'balanced', interruption_sensitivity: 'balanced' },
    // No filler: on a busy machine the answer may take long enough for one.
    tools: { tool_ids: [made.body.tool_id], filler_mode: 'off', system_tools: { hang_up_call: true } },
  });
  const invite = await talks.session(agent);
  const client = new Client();
  t.teardown(() => dispose());
  await client.join(invite);

  const finals = (from) =>
    client.shown.filter(
      (shown) => shown.from === from && (from === 'agent' || shown['lk.transcription_final'] === 'true'),
    );
  await until('the agent greets', () => finals('agent').length === 1);
  t.equal(finals('agent')[0].text, 'Hello. How can I help you?');
  t.ok(client.heard.length > 0, 'and is heard');

  const heardBefore = client.heard.length;
  await client.say(await talks.speech('What is the weather today?'));
  await until('the long answer is heard', () => client.heard.length > heardBefore + 250);
  t.same(asked, ['/Rome']);
  const ofTools = client.events.filter(({ type }) => type.startsWith('tool.'));
  exactly(t, ofTools, [{ type: 'tool.started' }, { type: 'tool.completed', output: 'sunny' }]);

  await client.say(await talks.speech('Stop, please wait a moment.'));
  await until('it waits', () => finals('agent').at(-1)?.text.startsWith('Of course'));

  await client.say(await talks.speech('Thank you, good bye.'));
  await until('the agent hangs up', () => client.left);
  exactly(t, client.events.at(-1), { type: 'session.ended', reason: 'agent_hangup' });
  await client.leave();

  const record = await talks.ended(invite);
  exactly(t, record, { status: 'completed', ended_reason: 'hangup' });
  const messages = messagesOf(record);
  t.equal(messages[0], 'assistant: Hello. How can I help you?');
  t.match(messages[1], /^user: .*weather/i);
  const kept = messages[2].replace('assistant: ', '');
  t.ok(LONG.startsWith(kept) && kept.length > 20 && kept.length < LONG.length, `kept: ${kept}`);
  t.equal(finals('agent')[1].text.trim(), kept, 'the transcript shows the same');
  // Its last words are now and then heard as "wake a moment".
  exactly(t, messages.slice(3, 5), [/^user: stop.*moment/i, 'assistant: Of course. I am waiting.']);
  t.match(messages[5], /^user: .*bye/i);
  exactly(
    t,
    record.items
      .filter(({ type }) => type !== 'message')
      .map(({ type, tool_name: name }) => `${type} ${name}`),
    ['tool_call Weather', 'tool_result Weather', 'tool_call hang_up_call', 'tool_result hang_up_call'],
  );
  await talks.untilNoCalls();
});
