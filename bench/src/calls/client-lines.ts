/**
 * Callers by the sockets of agents' clients: OpenAI's realtime events (docs/contract/agent-realtime.md), and ElevenLabs' conversations
 * (docs/contract/agent-elevenlabs.md).
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { type LineAudio, linear } from '../audio/line-audio.js';
import { Line } from './line.js';

/** An agent behind a socket of a gateway. */
export interface Addressed {
  /** With the agent in its query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Message {
  readonly type: string;
  readonly delta?: string;
  readonly audio_event?: { readonly audio_base_64: string };
  readonly ping_event?: { readonly event_id: number };
}

/** What one kind of client sends and gets. */
interface Wire {
  readonly audio: LineAudio;
  /** With what it begins. */
  readonly begin: object;
  spoken(base64: string): object;
  /** The agent's sound in a message. */
  sound(message: Message): string | undefined;
  /** The message that has a player drop what it was not heard yet. */
  readonly drops: string;
  reply?(message: Message): object | undefined;
}

const REALTIME: Wire = {
  audio: linear(24_000),
  begin: { type: 'session.update', session: { type: 'realtime' } },
  spoken: (audio) => ({ type: 'input_audio_buffer.append', audio }),
  sound: ({ type, delta }) => (type === 'response.output_audio.delta' ? delta : undefined),
  drops: 'input_audio_buffer.speech_started',
};

const ELEVENLABS: Wire = {
  audio: linear(16_000),
  begin: { type: 'conversation_initiation_client_data' },
  spoken: (audio) => ({ user_audio_chunk: audio }),
  sound: ({ audio_event: event }) => event?.audio_base_64,
  drops: 'interruption',
  reply: ({ ping_event: ping }) => ping && { type: 'pong', event_id: ping.event_id },
};

class ClientLine extends Line {
  readonly #socket: WebSocket;

  private constructor(
    private readonly wire: Wire,
    { url, headers }: Addressed,
  ) {
    super(wire.audio);
    this.#socket = new WebSocket(url, { perMessageDeflate: false, headers });
    this.#socket.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Message));
    this.#socket.on('error', () => undefined);
  }

  /** Resolves when the socket is open. Rejects where it is refused. */
  static async open(wire: Wire, addressed: Addressed): Promise<ClientLine> {
    const line = new ClientLine(wire, addressed);
    await once(line.#socket, 'open');
    line.#send(wire.begin);
    return line;
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  protected speak(frame: Buffer): void {
    this.#send(this.wire.spoken(frame.toString('base64')));
  }

  #take(message: Message): void {
    const sound = this.wire.sound(message);
    if (sound !== undefined) this.heard.take(Buffer.from(sound, 'base64'), performance.now());
    if (message.type === this.wire.drops) this.drop();
    const reply = this.wire.reply?.(message);
    if (reply) this.#send(reply);
  }

  hangUp(): void {
    this.#socket.close(1000);
  }
}

export const openRealtime = (addressed: Addressed): Promise<Line> => ClientLine.open(REALTIME, addressed);
export const openElevenlabs = (addressed: Addressed): Promise<Line> => ClientLine.open(ELEVENLABS, addressed);
export const REALTIME_AUDIO = REALTIME.audio;
export const ELEVENLABS_AUDIO = ELEVENLABS.audio;
