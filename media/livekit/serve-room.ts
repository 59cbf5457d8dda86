/**
 * Calls in rooms of a LiveKit server: the room worker's side (docs/contract/transport.md "Livekit mode"). The agent joins, reports
 * that, and leaves when the call ends; if the server closes the room, the call ends.
 */
import type { TranscriptText } from '../../contracts/ports/calls/calls.js';
import type { ServiceError } from '../../contracts/errors.js';
import type { JobHandlers } from '../../contracts/ports/jobs.js';
import { type Carrier, type CallHost, serve, ServedCall, type ServedParts } from '../served-call.js';
import { type Report, ROOM_JOB, type RoomArgs, type RoomReport, type TelephoneCommand } from '../wire.js';
import { joinRoom, type RoomEvents, RoomParticipant } from './participant.js';
import { SampleRecording } from '../recording.js';

class RoomCarrier implements Carrier<TelephoneCommand> {
  readonly #agent: RoomParticipant;
  #recording: SampleRecording | undefined;
  /** The error that ended the call; undefined if it ended normally. */
  failure: ServiceError | undefined;
  /** Resolves when the agent has left its room. */
  left: Promise<void> = Promise.resolve();

  constructor(
    private readonly args: RoomArgs,
    joined: Awaited<ReturnType<typeof joinRoom>>,
    private readonly call: CallHost<RoomReport>,
    private readonly parts: Pick<ServedParts, 'complexity' | 'clock'>,
  ) {
    const events: RoomEvents = {
      connected: (is) => call.report({ on: is ? 'connected' : 'disconnected' }),
      left: () => call.report({ on: 'left' }),
      met: () => call.report({ on: 'met' }),
      usurped: () => call.report({ on: 'usurped' }),
      missed: (times, sid) => call.report({ on: 'missed', times, sid }),
      key: (key) => call.report({ on: 'key', key }),
      cut: () => call.report({ on: 'cut' }),
      data: (data) => call.report({ on: 'data', ...data }),
      heard: (samples) => call.samples(samples),
      sent: (samples) => this.#kept()?.user(samples),
      paused: () => this.#kept()?.pause(),
      over: (error) => {
        this.failure = error;
        call.over();
      },
      failed: (error) => call.failed(error),
    };
    this.#agent = new RoomParticipant(args, joined, events, parts.clock);
  }

  #kept(): SampleRecording | undefined {
    const recorder = this.call.recorder();
    return recorder && (this.#recording ??= new SampleRecording(recorder, this.parts.complexity));
  }

  /** Playout stops while the user is not connected, or the library's queue is full. */
  beat(connected: boolean): boolean {
    this.#agent.beat();
    const frame = connected && this.#agent.speaker.hasRoom ? this.call.playout.next() : undefined;
    if (!frame) return false;
    this.#agent.speaker.speak(frame.samples);
    this.#kept()?.agent(frame.samples);
    return true;
  }

  message(topic: string, payload: Uint8Array): void {
    if (!this.args.phone) this.#agent.outgoing.message(topic, payload);
  }

  show(text: TranscriptText): void {
    if (!this.args.phone) this.#agent.outgoing.show(text);
  }

  attributes(values: Readonly<Record<string, string>>): void {
    this.#agent.outgoing.attributes(values);
  }

  clearAudio(): void {
    this.#agent.speaker.clearAudio();
  }

  take(command: TelephoneCommand): void {
    if (command.op === 'press') void this.#press(command.keys);
    else this.call.report({ on: 'data', topic: command.topic, payload: command.payload });
  }

  async #press(keys: string): Promise<void> {
    await this.#agent.press(keys);
    this.call.report({ on: 'pressed' });
  }

  close(): void {
    this.left = this.#agent.leave();
  }
}

export const roomJobs = (parts: ServedParts): JobHandlers => ({
  async *[ROOM_JOB](args: RoomArgs, commands, context): AsyncGenerator<readonly (Report | RoomReport)[]> {
    const joined = await joinRoom(args, context.signal);
    let carrier: RoomCarrier | undefined;
    const carry = (call: CallHost<RoomReport>): RoomCarrier =>
      (carrier = new RoomCarrier(args, joined, call, parts));
    const call = new ServedCall<TelephoneCommand, RoomReport>(args, parts, carry);
    try {
      yield [{ on: 'joined' }];
      yield* serve(call, commands, context);
    } finally {
      call.close();
      await carrier?.left;
    }
    if (carrier?.failure) throw carrier.failure;
  },
});
