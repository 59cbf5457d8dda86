/**
 * Calls whose clients join this gateway: the worker's side. Signalling and the packets of both sides meet in a room
 * (docs/contract/transport.md "Embedded mode").
 */
import type { TranscriptText } from '../../contracts/ports/calls/calls.js';
import type { JobHandlers } from '../../contracts/ports/jobs.js';
import { decoders } from '../opus-pool.js';
import { type Carrier, type CallHost, serve, ServedCall, type ServedParts } from '../served-call.js';
import { CALL_JOB, type CallArgs, type SignalCommand, type SignalReport } from '../wire.js';
import { Microphone } from './microphone.js';
import { EmbeddedRoom, type EmbeddedRoomEvents, type RoomNetwork } from './room.js';
import { OPUS_TYPE } from './rtp.js';
import { VoiceSender } from './voice-sender.js';

export interface EmbeddedMediaParts extends ServedParts {
  readonly network: RoomNetwork;
}

class EmbeddedCarrier implements Carrier<SignalCommand> {
  readonly #room: EmbeddedRoom;
  readonly #voice: VoiceSender;
  readonly #decoder = decoders.take();
  #microphone: Microphone;
  /** The name of the track that is heard. */
  #track: string | undefined;

  constructor(
    args: CallArgs,
    { network, complexity, clock }: EmbeddedMediaParts,
    private readonly call: CallHost<SignalReport>,
  ) {
    this.#microphone = this.#newMicrophone();
    const events: EmbeddedRoomEvents = {
      report: (report) => call.report(report),
      packet: (packet, track) => {
        if (track !== this.#track) this.#follow(track);
        this.#microphone.receive(packet);
      },
      renewed: (opusType) => {
        this.#microphone = this.#newMicrophone();
        call.recorder()?.renew();
        this.#voice.renew(opusType);
      },
      failed: (error) => call.failed(error),
    };
    this.#room = new EmbeddedRoom(args, network, events, clock);
    const options = { ssrc: this.#room.ssrc, opusType: OPUS_TYPE, complexity };
    this.#voice = new VoiceSender(options, call.playout, (packet, opus) => {
      this.#room.speak(packet);
      call.recorder()?.agent(opus);
    });
  }

  #newMicrophone(): Microphone {
    const { call } = this;
    this.#decoder.reset();
    return new Microphone(
      this.#decoder,
      (samples) => call.samples(samples),
      (packet) => call.recorder()?.user(packet),
    );
  }

  /** Another track is the user from now on, with sequence numbers and timestamps of its own. */
  #follow(track: string): void {
    this.#track = track;
    this.#decoder.reset();
    this.#microphone.restart();
    this.call.recorder()?.renew();
  }

  /** The user's audio continues, at least as silence, for the whole call. */
  beat(connected: boolean, passed: number): boolean {
    this.#microphone.beat(passed);
    this.#room.messages.flush();
    return this.#voice.beat(connected);
  }

  message(topic: string, payload: Uint8Array): void {
    this.#room.messages.message(topic, payload);
  }

  show(text: TranscriptText): void {
    this.#room.messages.show(text);
  }

  attributes(values: Readonly<Record<string, string>>): void {
    this.#room.attributes(values);
  }

  take(command: SignalCommand): void {
    if (command.op === 'connect') this.#room.connect(command);
    else if (command.op === 'signal') this.#room.signal(command);
    else this.#room.gone(command.link);
  }

  close(): void {
    this.#room.close();
    this.#voice.close();
    decoders.give(this.#decoder);
  }
}

export const callJobs = (parts: EmbeddedMediaParts): JobHandlers => ({
  [CALL_JOB](args: CallArgs, commands, context) {
    const carry = (call: CallHost<SignalReport>) => new EmbeddedCarrier(args, parts, call);
    return serve(new ServedCall(args, parts, carry), commands, context);
  },
});
