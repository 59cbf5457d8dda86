/**
 * Calls whose client offers its connection: the worker's side. One peer connection takes the offer; its answer holds all candidates of
 * ours, and those of the client are found as its checks arrive. Audio goes by RTP, events by one data channel.
 *
 * Invariants: nothing of the user is heard before the call begins; a client whose channel is closed, by itself or as it
 * answers no more, has hung up; until then a connection that was lost may come back.
 */
import type { TranscriptText } from '../../contracts/ports/calls/calls.js';
import { EVENT_CHANNEL } from '../../contracts/ports/calls/offered-calls.js';
import type { JobHandlers } from '../../contracts/ports/jobs.js';
import { decoders } from '../opus-pool.js';
import { type Carrier, type CallHost, serve, ServedCall } from '../served-call.js';
import {
  OFFERED_JOB,
  type OfferedArgs,
  type OfferedCommand,
  type OfferedReport,
  type PlayedReport,
} from '../wire.js';
import { RemoteCandidates } from './candidates.js';
import { sidOf } from './data.js';
import { listeningMid } from './directions.js';
import { Microphone } from './microphone.js';
import { Peer } from './peer.js';
import { OPUS_TYPE, readRtp } from './rtp.js';
import { isBounded, withCandidates } from './sdp.js';
import type { EmbeddedMediaParts } from './serve-call.js';
import { SentFrames } from './sent-frames.js';
import { VoiceSender } from './voice-sender.js';

/** Largest event of a client. */
const MOST_EVENT = 256 * 1024;
/** Bytes of a client's events that wait for the gateway. */
const MOST_WAITING = 4 * 1024 * 1024;
/** For the last events to leave before the connection closes, in milliseconds. */
const FAREWELL_MS = 300;

type Handlers = {
  readonly [Op in OfferedCommand['op']]: (command: Extract<OfferedCommand, { readonly op: Op }>) => void;
};

class OfferedCarrier implements Carrier<OfferedCommand> {
  readonly #peer: Peer;
  readonly #voice: VoiceSender;
  readonly #decoder = decoders.take();
  readonly #microphone: Microphone;
  readonly #ssrc = 1 + Math.floor(Math.random() * 0xfffffffe);
  readonly #candidates: string[] = [];
  #answer: string | undefined;
  #gathered = false;
  #connected = false;
  #isOpen = false;
  #begun = false;
  #left = false;
  /** Told behind the frame with which it was. */
  #played: PlayedReport[] = [];
  readonly #sent = new SentFrames((report) => this.call.report(report));

  constructor(
    { offer }: OfferedArgs,
    private readonly parts: EmbeddedMediaParts,
    private readonly call: CallHost<OfferedReport>,
  ) {
    const { network, complexity } = parts;
    this.#decoder.reset();
    this.#microphone = new Microphone(
      this.#decoder,
      (samples) => call.samples(samples),
      (packet) => call.recorder()?.user(packet),
    );
    this.#peer = this.#connect(offer.from, network);
    this.#negotiate(offer.sdp);
    const opusType = this.#peer.opusType ?? OPUS_TYPE;
    this.#voice = new VoiceSender(
      { ssrc: this.#ssrc, opusType, complexity },
      call.playout,
      (packet, opus, utterance) => {
        this.#peer.sendPacket(packet);
        call.recorder()?.agent(opus);
        this.#sent.add(utterance);
      },
    );
  }

  #connect(from: string, network: EmbeddedMediaParts['network']): Peer {
    const admits = new RemoteCandidates(() => performance.now()).ofConnection(from);
    return new Peer(
      sidOf('PA'),
      network,
      {
        candidate: (candidate) => this.#candidates.push(candidate),
        gathered: () => {
          this.#gathered = true;
          this.#tellAnswer();
        },
        state: (state) => this.#state(state === 'connected'),
        channelOpen: (label) => label === EVENT_CHANNEL && this.#open(),
        channelClosed: (label) => label === EVENT_CHANNEL && this.#leave(),
        message: () => undefined,
        text: (label, text) => label === EVENT_CHANNEL && this.#event(text),
        packet: (bytes, type) => this.#hear(bytes, type),
      },
      admits,
    );
  }

  #negotiate(sdp: string): void {
    try {
      if (!isBounded(sdp) || !/^m=application /m.test(sdp) || listeningMid(sdp) === undefined)
        return this.call.report({ on: 'answer', sdp: undefined });
      const track = { ssrc: this.#ssrc, streamId: sidOf('ST'), trackId: sidOf('TR') };
      this.#answer = this.#peer.answer(sdp, track).sdp;
      this.#tellAnswer();
    } catch {
      // The library does not say why it cannot read a description.
      this.call.report({ on: 'answer', sdp: undefined });
    }
  }

  #tellAnswer(): void {
    if (this.#answer === undefined || !this.#gathered) return;
    this.call.report({ on: 'answer', sdp: withCandidates(this.#answer, this.#candidates) });
    this.#answer = undefined;
  }

  #state(connected: boolean): void {
    if (connected === this.#connected) return;
    this.#connected = connected;
    if (this.#begun) this.call.report({ on: connected ? 'connected' : 'disconnected' });
  }

  /** The library may say it twice. */
  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.call.report({ on: 'opened' });
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    if (this.#begun) this.call.report({ on: 'left' });
    else this.call.over();
  }

  #event(text: string): void {
    const payload = Buffer.from(text);
    const waiting = this.call.waitingBytes();
    // Nothing is dropped in silence: a client that sends more than can be read is let go.
    if (payload.length > MOST_EVENT || waiting + payload.length > MOST_WAITING) return this.#leave();
    this.call.report({ on: 'event', payload });
  }

  #hear(bytes: Buffer, type: number): void {
    const packet = this.#begun ? readRtp(bytes, type) : undefined;
    if (packet) this.#microphone.receive(packet);
  }

  beat(connected: boolean, passed: number): boolean {
    if (!this.#begun) return false;
    this.#microphone.beat(passed);
    const spoke = this.#voice.beat(connected);
    if (!spoke || this.#played.length > 0) this.#sent.tell();
    for (const played of this.#played.splice(0)) this.call.report(played);
    return spoke;
  }

  played(played: PlayedReport): void {
    this.#played.push(played);
  }

  take(command: OfferedCommand): void {
    (this.#commands[command.op] as (command: OfferedCommand) => void)(command);
  }

  readonly #commands: Handlers = {
    begin: () => {
      this.#begun = true;
      if (this.#connected) this.call.report({ on: 'connected' });
    },
    event: ({ text }) => {
      // A client that does not read its events has gone.
      if (!this.#peer.sendText(EVENT_CHANNEL, text)) this.#leave();
    },
    told: ({ topic, payload }) => this.call.report({ on: 'data', topic, payload }),
    hungUp: () => this.#leave(),
  };

  message(_topic: string, _payload: Uint8Array): void {
    // The gateway writes all that the client is told.
  }

  show(_text: TranscriptText): void {
    // As above.
  }

  attributes(_values: Readonly<Record<string, string>>): void {
    // As above.
  }

  close(): void {
    this.#voice.close();
    decoders.give(this.#decoder);
    this.parts.clock.after(FAREWELL_MS, () => this.#peer.close());
  }
}

export const offeredJobs = (parts: EmbeddedMediaParts): JobHandlers => ({
  [OFFERED_JOB](args: OfferedArgs, commands, context) {
    const carry = (call: CallHost<OfferedReport>) => new OfferedCarrier(args, parts, call);
    return serve(new ServedCall<OfferedCommand, OfferedReport>(args, parts, carry), commands, context);
  },
});
