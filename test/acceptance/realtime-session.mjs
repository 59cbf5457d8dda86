/**
 * A whole realtime session as a user of the openai SDK writes it, the same for each of its classes: speak, transcribe,
 * cancel, a second response refused, delete, retrieve, truncate. Run by itself (`node realtime-session.mjs <base>
 * <key>`) it uses the class that takes the platform's own WebSocket, and prints what came of it.
 */
import { pathToFileURL } from 'node:url';
import OpenAI from 'openai';
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket';

export const TEXT = 'Tones carry text, exactly. A second sentence follows.';
const ENDLESS = 'abcdefghi '.repeat(50_000);
const DEADLINE_MS = 60_000;
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

/** The events of a connection, waited for one after the other. */
class Listener {
  events = [];
  #seen = 0;
  #waiting;

  constructor(rt) {
    this.rt = rt;
    rt.on('event', (event) => {
      this.events.push(event);
      this.#waiting?.();
    });
    // Without a listener the SDK rejects where nobody catches it.
    rt.on('error', () => undefined);
  }

  async next(type) {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    for (;;) {
      const at = this.events.findIndex((event, index) => index >= this.#seen && event.type === type);
      if (at >= 0) {
        this.#seen = at + 1;
        return this.events[at];
      }
      await new Promise((resolve, reject) => {
        this.#waiting = resolve;
        deadline.onabort = () => reject(new Error(`no ${type} after ${this.events.at(-1)?.type}`));
      });
    }
  }

  async call(event, answer) {
    this.rt.send(event);
    return this.next(answer);
  }
}

const say = (text) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});

const audioOf = (events) =>
  Buffer.concat(
    events
      .filter(({ type }) => type === 'response.output_audio.delta')
      .map(({ delta }) => Buffer.from(delta, 'base64')),
  );

/** Runs a whole session; its results, and all events. */
export async function wholeSession(rt) {
  const listener = new Listener(rt);
  const call = (event, answer) => listener.call(event, answer);
  await listener.next('session.created');
  const { session } = await call(
    { type: 'session.update', session: { type: 'realtime', audio: { input: { turn_detection: null } } } },
    'session.updated',
  );
  await call(say(TEXT), 'conversation.item.done');
  const { response: spoken } = await call({ type: 'response.create' }, 'response.done');
  const audio = audioOf(listener.events);
  const [{ id: assistant }] = spoken.output;

  rt.send({ type: 'input_audio_buffer.append', audio: audio.toString('base64') });
  const committed = await call({ type: 'input_audio_buffer.commit' }, 'input_audio_buffer.committed');
  const heard = await listener.next(`${TRANSCRIPTION}.completed`);
  const retrieve = (item) =>
    call({ type: 'conversation.item.retrieve', item_id: item }, 'conversation.item.retrieved');
  const kept = await retrieve(assistant);
  const keptInput = await retrieve(committed.item_id);

  await call(say(ENDLESS), 'conversation.item.done');
  await call({ type: 'response.create' }, 'response.output_audio.delta');
  const refused = await call({ type: 'response.create', event_id: 'second' }, 'error');
  const { response: cancelled } = await call({ type: 'response.cancel' }, 'response.done');

  const truncate = {
    type: 'conversation.item.truncate',
    item_id: assistant,
    content_index: 0,
    audio_end_ms: 100,
  };
  const truncated = await call(truncate, 'conversation.item.truncated');
  const deleted = await call(
    { type: 'conversation.item.delete', item_id: assistant },
    'conversation.item.deleted',
  );
  const missing = await call({ type: 'conversation.item.retrieve', item_id: assistant }, 'error');
  await call({ type: 'input_audio_buffer.clear' }, 'input_audio_buffer.cleared');

  await call(
    {
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { format: { type: 'audio/wav' } } } },
    },
    'session.updated',
  );
  rt.send({
    type: 'input_audio_buffer.append',
    audio: Buffer.from('no file of any kind').toString('base64'),
  });
  const failed = await call({ type: 'input_audio_buffer.commit' }, `${TRANSCRIPTION}.failed`);
  rt.close();
  return {
    outcome: {
      type: session.type,
      spoken: [spoken.status, spoken.output[0].content[0].transcript],
      heard: heard.transcript,
      kept: kept.item.content[0].audio === audio.toString('base64'),
      keptInput: keptInput.item.content[0].transcript,
      refused: [refused.error.code, refused.error.event_id],
      cancelled: [cancelled.status, cancelled.status_details.reason],
      truncated: truncated.audio_end_ms,
      deleted: deleted.item_id === assistant,
      missing: missing.error.code,
      failed: failed.error.code,
    },
    events: listener.events,
  };
}

/** The results of a whole session. */
export const EXPECTED = {
  type: 'realtime',
  spoken: ['completed', TEXT],
  heard: TEXT,
  kept: true,
  keptInput: TEXT,
  refused: ['response_already_active', 'second'],
  cancelled: ['cancelled', 'client_cancelled'],
  truncated: 100,
  deleted: true,
  missing: 'item_not_found',
  failed: 'audio_unreadable',
};

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , baseURL, apiKey] = process.argv;
  const rt = new OpenAIRealtimeWebSocket({ model: 'svc/s2.1-pro' }, new OpenAI({ apiKey, baseURL }));
  const { outcome } = await wholeSession(rt);
  console.log(JSON.stringify({ outcome, protocol: rt.socket.protocol }));
}
