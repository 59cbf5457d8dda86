/** Calls whose client offers its connection: the gateway's side (contracts/ports/calls/offered-calls.ts). */
import { ServiceError, toServiceError } from '../../contracts/errors.js';
import { MeteredMemory, pieceOf } from '../../contracts/ports/accounts/memory.js';
import type { CallObserver, CallOptions, PhoneCall, PhoneLink } from '../../contracts/ports/calls/calls.js';
import type {
  ChannelEvents,
  ConnectionOffer,
  OfferedLine,
  OfferedMedia,
} from '../../contracts/ports/calls/offered-calls.js';
import type { JobRunner } from '../../contracts/ports/jobs.js';
import { OFFERED_JOB, type OfferedArgs, type OfferedReport } from '../wire.js';
import { WorkerCall } from '../worker-call.js';

/** Most bytes of events that may wait for the worker. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024;

const NO_AUDIO = new Uint8Array();

type Options = CallOptions & { readonly offer: ConnectionOffer };

class OfferedCall extends WorkerCall<OfferedReport> implements PhoneCall, OfferedLine {
  readonly answer: Promise<string>;
  readonly #memory: MeteredMemory;
  #answered: (sdp: string) => void = () => undefined;
  #refused: (error: ServiceError) => void = () => undefined;
  #link: Pick<PhoneLink, 'speak' | 'close'> | undefined;

  constructor(
    private readonly media: JobRunner,
    protected override readonly options: Options,
    private readonly channel: ChannelEvents,
    observer: CallObserver,
  ) {
    super(options, observer);
    this.#memory = new MeteredMemory(channel.share);
    this.answer = new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#refused = reject;
    });
    this.start().catch((error: unknown) => this.#refused(toServiceError(error)));
  }

  protected reports(): AsyncIterable<unknown> {
    const { sessionId, user, agent, record, part, offer } = this.options;
    const args: OfferedArgs = { sessionId, user, agent, record, part, offer };
    return this.media.runJob(OFFERED_JOB, args, this.run);
  }

  protected take(report: OfferedReport): void {
    if (report.on === 'answer') this.#answer(report.sdp);
    else if (report.on === 'opened') this.channel.opened();
    else if (report.on === 'event') this.channel.event(Buffer.from(report.payload).toString());
    else for (let sent = 0; sent < report.frames; sent += 1) this.#link?.speak(NO_AUDIO, report.utterance);
  }

  #answer(sdp: string | undefined): void {
    if (sdp !== undefined) return this.#answered(sdp);
    const message = 'The offer needs one line of audio with Opus in both directions, and a data channel';
    this.#refused(new ServiceError('invalid_request', { message, param: 'sdp' }));
    this.end();
  }

  send(text: string): void {
    const bytes = this.waitingBytes + pieceOf(text.length);
    if (bytes > MOST_WAITING_BYTES || !this.#memory.set(bytes)) return this.lose();
    this.tell({ op: 'event', text });
  }

  begin(link: Pick<PhoneLink, 'speak' | 'close'>): PhoneCall {
    this.#link = link;
    this.tell({ op: 'begin' });
    return this;
  }

  hear(): true {
    // The user's audio comes by RTP.
    return true;
  }

  marked(): void {
    // Nothing is marked: what was sent counts as heard.
  }

  hold(): void {
    // Only a telephone is put on hold.
  }

  hungUp(): void {
    this.tell({ op: 'hungUp' });
  }

  protected closed(): void {
    this.#refused(new ServiceError('engine_lost'));
    this.#link?.close();
    this.channel.closed();
  }
}

/** `media`: the pool of media workers; a call stays on the worker that it began on. */
export const createOfferedMedia = (media: JobRunner, observer: CallObserver): OfferedMedia => ({
  openLine: (options, channel) => new OfferedCall(media, options, channel, observer),
});
