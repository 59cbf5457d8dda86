/**
 * The agent's data packets and transcripts to the user of its room, one at a time, as fast as the library takes
 * them. Packets wait while the user is away.
 *
 * Invariants: order is kept; waiting steps are bounded in bytes, overhead included; a step that fails or hangs affects no other.
 */
import type { LocalParticipant } from '@livekit/rtc-node';
import { systemClock } from '../../contracts/clock.js';
import type { TranscriptText } from '../../contracts/ports/calls/calls.js';
import { withTimeout } from '../../contracts/time/timeouts.js';
import { type TextOut, TRANSCRIPTION_TOPIC, Transcripts } from '../transcripts.js';

type TextWriter = Awaited<ReturnType<LocalParticipant['streamText']>>;

const MOST_WAITING_BYTES = 256 * 1024;
/** Overhead counted for each step, in bytes. */
const STEP_BYTES = 128;
/** Longest wait for a step; within the library's longest time to reconnect to the server. */
const STEP_MS = 5000;

interface Written extends TextOut {
  /** Ends it and discards its unsent text; does nothing if it has ended. */
  drop(): void;
}

interface Step {
  readonly bytes: number;
  send(): Promise<unknown>;
}

export class RoomSender {
  readonly #transcripts: Transcripts;
  #steps: Step[] = [];
  #bytes = 0;
  #there = false;
  #sending: Promise<void> | undefined;
  #wanted: Record<string, string> = {};
  #updating = false;
  #stale = false;

  constructor(
    private readonly agent: LocalParticipant,
    private readonly userIdentity: string,
    trackSid: () => string,
    userTrack?: () => string | undefined,
  ) {
    let speech: Written | undefined;
    const open = (speaker: TranscriptText['speaker'], attributes: Record<string, string>): TextOut => {
      if (speaker === 'user') return this.#text(userIdentity, attributes);
      // A stream that has not ended belongs to a client that has gone; the new one sends its text from the beginning.
      speech?.drop();
      return (speech = this.#text(agent.identity, attributes));
    };
    this.#transcripts = new Transcripts(open, trackSid, userTrack);
  }

  message(topic: string, payload: Uint8Array): void {
    const options = { reliable: true, topic, destination_identities: [this.userIdentity] };
    this.#post(payload.length, () => this.agent.publishData(payload, options));
  }

  show(text: TranscriptText): void {
    this.#transcripts.show(text);
  }

  #text(senderIdentity: string, attributes: Record<string, string>): Written {
    let writer: TextWriter | undefined;
    let ended = false;
    let dropped = false;
    const destinationIdentities = [this.userIdentity];
    const options = { topic: TRANSCRIPTION_TOPIC, attributes, destinationIdentities, senderIdentity };
    const end = (): void => {
      if (!ended) this.#post(0, async () => writer?.close());
      ended = true;
    };
    this.#post(0, async () => {
      if (!dropped) writer = await this.agent.streamText(options);
    });
    return {
      add: (text) => this.#post(Buffer.byteLength(text), async () => dropped || writer?.write(text)),
      end,
      drop() {
        dropped = !ended;
        end();
      },
    };
  }

  /** Notes whether the user is connected. One that comes back knows no stream, so transcripts are renewed. */
  there(is: boolean): void {
    this.#there = is;
    if (!is) return;
    this.#transcripts.renew();
    this.#start();
  }

  #post(bytes: number, send: Step['send']): void {
    const cost = bytes + STEP_BYTES;
    if (this.#bytes + cost > MOST_WAITING_BYTES) return;
    this.#bytes += cost;
    this.#steps.push({ bytes: cost, send });
    this.#start();
  }

  #start(): void {
    if (this.#there && this.#steps.length > 0) this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    for (let step = this.#steps.shift(); step; step = this.#there ? this.#steps.shift() : undefined) {
      this.#bytes -= step.bytes;
      await withTimeout(systemClock, STEP_MS, step.send()).catch(() => undefined);
    }
    // In the same tick as the last check of the queue, so that no step is left waiting.
    this.#sending = undefined;
  }

  /** Sets attributes of the agent; the latest value of each wins. */
  attributes(values: Readonly<Record<string, string>>): void {
    this.#wanted = { ...this.#wanted, ...values };
    this.#stale = true;
    if (!this.#updating) void this.#update();
  }

  async #update(): Promise<void> {
    this.#updating = true;
    while (this.#stale) {
      this.#stale = false;
      await withTimeout(systemClock, STEP_MS, this.agent.setAttributes(this.#wanted)).catch(() => undefined);
    }
    this.#updating = false;
  }

  /** Resolves when everything that can be written has been. */
  async written(): Promise<void> {
    await this.#sending;
  }
}
