/**
 * A call by one WebSocket: that of a telephone line at a media worker, whose client is also told what others see on their data
 * channel, and says what they cannot.
 *
 * Invariants: everything that the client is told about the call comes in the order in which it happened; with `manual` turns the
 * user's voice ends only by `release`.
 */
import type { Clock } from '../../../contracts/clock.js';
import type {
  Call,
  CallEvent,
  LineFormat,
  PhoneCall,
  PhoneLink,
  PhoneOptions,
  TranscriptText,
} from '../../../contracts/ports/calls/calls.js';
import type { ClientWish, SocketCall, SocketLink } from '../../../contracts/ports/calls/socket-calls.js';
import { PLAYOUT_RATE } from '../../../contracts/audio.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import { AsyncQueue } from '../../../media/async-queue.js';
import { codecFor } from '../../../media/phone/codecs.js';
import { encodeEvent, TOPICS } from '../conversations/client/events.js';
import type { OwnedCall } from './owned-call.js';
import { PacedAudio } from './paced-audio.js';

/** Behind the audio of a turn that its client ends: enough for the worker to find that the voice has ended. */
const SILENCE_MS = 600;
/** A message of ours through the worker, which comes back behind everything that was heard before. */
const MARK = 'end-of-turn';

type Speech = Extract<CallEvent, { readonly kind: 'speech' }>;

const bytesPerMs = (format: LineFormat): number => (format.rate / 1000) * codecFor(format).bytesPerSample;

export class OpenSocketCall implements Call, SocketCall {
  readonly correctable = true;
  readonly events: AsyncIterable<CallEvent> = this.#follow();
  readonly #events = new AsyncQueue<CallEvent>();
  readonly #media: PhoneCall;
  readonly #audio: PacedAudio;
  /** What the client wants before the call is connected; undefined from then on. */
  #waiting: CallEvent[] | undefined = [];
  #failure: unknown;
  #manual = false;
  /** Whether the conversation believes that the user's voice goes on. */
  #voiced = false;
  /** Turns that the client has ended, whose audio is not heard to its end yet; whether each is answered in any case. */
  readonly #releasing: boolean[] = [];
  #owner: Pick<OwnedCall, 'closedBy'> | undefined;
  /** Whether the conversation has paused the agent's speech, and whether there is nobody to hear it. */
  #paused = false;
  #away = false;

  constructor(
    /** The line that carries the audio. */
    open: (options: PhoneOptions, link: PhoneLink) => PhoneCall,
    private readonly options: PhoneOptions & { readonly heard: LineFormat },
    private readonly link: SocketLink,
    clock: Pick<Clock, 'monotonic' | 'after'>,
  ) {
    this.#media = open(options, {
      memory: link.memory,
      speak: (audio, utterance) => link.speak(audio, utterance),
      // The client's player says nothing of itself: what it was sent counts as heard a moment later.
      mark: () => undefined,
      clearAudio: () => undefined,
      close: () => {
        this.#audio.clear();
        link.close();
      },
    });
    const send = (audio: Uint8Array): boolean => this.#media.hear(audio);
    this.#audio = new PacedAudio(bytesPerMs(options.heard), link.memory, clock, send);
  }

  /** The conversation is `owner`'s from now on. */
  ownedBy(owner: Pick<OwnedCall, 'closedBy'>): void {
    this.#owner = owner;
  }

  async #read(): Promise<void> {
    try {
      for await (const event of this.#media.events) this.#take(event);
    } catch (error) {
      this.#failure = error;
    } finally {
      this.#events.end();
    }
  }

  async *#follow(): AsyncGenerator<CallEvent> {
    void this.#read();
    for await (const event of this.#events) {
      if (event.kind === 'speech' && !this.#manual)
        this.link.told({ on: 'voice', active: event.active && event.background !== true, at: event.at });
      if (event.kind !== 'played') {
        yield event;
        continue;
      }
      const { utterance, ms, ended } = event;
      this.link.told({ on: 'playing', utterance, ms });
      yield event;
      // The conversation has taken it, and shown the words of it.
      this.link.told({ on: 'heard', utterance, ms, ended });
    }
    if (this.#failure !== undefined) throw this.#failure as Error;
  }

  #take(event: CallEvent): void {
    if (event.kind === 'data' && event.topic === MARK) return this.#end();
    if (event.kind === 'speech') return this.#speech(event);
    this.#events.push(event);
    if (event.kind === 'connected') this.#connected();
  }

  #connected(): void {
    for (const event of this.#waiting ?? []) this.#events.push(event);
    this.#waiting = undefined;
  }

  #want(event: CallEvent): void {
    if (this.#waiting) this.#waiting.push(event);
    else this.#events.push(event);
  }

  #speech(event: Speech): void {
    if (event.background) return void this.#events.push(event);
    if (this.#manual && event.active === this.#voiced) return;
    if (this.#manual && !event.active) return;
    this.#voiced = event.active;
    this.#events.push(event);
  }

  /** All audio of a turn that its client has ended was heard. */
  #end(): void {
    const isAnswered = this.#releasing.shift() === true;
    if (!this.#voiced && isAnswered) this.#events.push({ kind: 'answer', text: '' });
    if (!this.#voiced) return;
    this.#voiced = false;
    this.#events.push({ kind: 'speech', active: false, silentMs: SILENCE_MS, over: true });
  }

  playSpeech(utterance: number, samples: Int16Array): Promise<void> {
    this.link.told({ on: 'made', utterance, ms: (samples.length * 1000) / PLAYOUT_RATE });
    return this.#media.playSpeech(utterance, samples);
  }

  finishUtterance(utterance: number): void {
    this.#media.finishUtterance(utterance);
  }

  pauseSpeech(): void {
    this.#paused = true;
    this.#media.pauseSpeech();
  }

  resumeSpeech(): void {
    this.#paused = false;
    if (!this.#away) this.#media.resumeSpeech();
    this.link.told({ on: 'resumed' });
  }

  clearSpeech(): void {
    this.#paused = false;
    this.#media.clearSpeech();
    // Dropping speech ends a pause of the worker.
    if (this.#away) this.#media.pauseSpeech();
    this.link.told({ on: 'cleared' });
  }

  sendData(_topic: string, payload: Uint8Array): void {
    const message = JSON.parse(Buffer.from(payload).toString()) as unknown;
    if (isPlainObject(message)) this.link.told({ on: 'message', message });
  }

  showTranscript(text: TranscriptText): void {
    this.link.told({ on: 'text', text });
  }

  wrote(utterance: number, text: string): void {
    this.link.told({ on: 'written', utterance, text });
  }

  setAttributes(values: Readonly<Record<string, string>>): void {
    const state = values['lk.agent.state'];
    if (state !== undefined) this.link.told({ on: 'state', state });
  }

  end(): void {
    this.#media.end();
  }

  hear(audio: Uint8Array, most: number): ReturnType<SocketCall['hear']> {
    if (this.#audio.bytes + audio.length > most) return 'full';
    return this.#audio.push(audio) ? 'taken' : 'exhausted';
  }

  kept(bytes: number, since: number): void {
    this.#audio.kept(bytes, since);
  }

  forget(): void {
    this.#audio.clear();
  }

  message(message: object): void {
    const payload = encodeEvent(message);
    this.#want({ kind: 'data', topic: TOPICS.fromClient, payload });
  }

  wish(wish: ClientWish): void {
    this.#want(wish);
  }

  manual(is: boolean): void {
    const was = this.#manual;
    this.#manual = is;
    // A voice that the client was to end ends by itself again.
    if (was && !is && this.#voiced && this.#releasing.length === 0) this.#markEnd(false);
  }

  release(isAnswered: boolean): void {
    this.#audio.then(() => {
      const { heard } = this.options;
      const silence = new Int16Array((heard.rate * SILENCE_MS) / 1000);
      this.#media.hear(codecFor(heard).encode(silence));
      this.#markEnd(isAnswered);
    });
  }

  #markEnd(isAnswered: boolean): void {
    this.#releasing.push(isAnswered);
    this.#media.told(MARK, new Uint8Array());
  }

  away(): void {
    if (this.#away) return;
    this.#away = true;
    this.#audio.clear();
    this.#media.pauseSpeech();
    this.#want({ kind: 'disconnected' });
  }

  back(): void {
    if (!this.#away) return;
    this.#away = false;
    if (!this.#paused) this.#media.resumeSpeech();
    this.#want({ kind: 'connected' });
  }

  hungUp(): void {
    this.#media.hungUp();
  }

  broken(): void {
    this.#owner?.closedBy('line');
  }
}
