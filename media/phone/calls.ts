/**
 * Phone calls: the gateway's side. Invariant: a provider that sends faster than the worker reads loses audio, not its
 * call.
 */
import type {
  CallObserver,
  PhoneCall,
  PhoneLink,
  PhoneMedia,
  PhoneOptions,
} from '../../contracts/ports/calls/calls.js';
import { MeteredMemory, pieceOf } from '../../contracts/ports/accounts/memory.js';
import type { JobRunner } from '../../contracts/ports/jobs.js';
import { type LineReport, PHONE_JOB, type PhoneArgs } from '../wire.js';
import { WorkerCall } from '../worker-call.js';

/** Most bytes of commands that may wait for the worker when audio is added: 20 s of pieces of 20 ms. */
const MOST_WAITING_BYTES = 256 * 1024;

class LineCall extends WorkerCall<LineReport> implements PhoneCall {
  readonly #memory: MeteredMemory;

  constructor(
    private readonly media: JobRunner,
    protected override readonly options: PhoneOptions,
    private readonly link: PhoneLink,
    observer: CallObserver,
  ) {
    super(options, observer);
    this.#memory = new MeteredMemory(link.memory);
  }

  protected reports(): AsyncIterable<unknown> {
    const { sessionId, user, agent, record, part, format, heard, isPaced } = this.options;
    const args: PhoneArgs = {
      ...{ sessionId, user, agent, record, format },
      ...(part !== undefined && { part }),
      ...(heard && { heard }),
      ...(isPaced && { isPaced }),
    };
    return this.media.runJob(PHONE_JOB, args, this.run);
  }

  hear(audio: Uint8Array, order?: number): boolean {
    const bytes = this.waitingBytes + pieceOf(audio.length);
    if (bytes > MOST_WAITING_BYTES || !this.#memory.set(bytes)) return false;
    this.tell({ op: 'hear', audio, ...(order !== undefined && { order }) });
    return true;
  }

  marked(mark: number): void {
    this.tell({ op: 'marked', mark });
  }

  hold(on: boolean): void {
    this.tell({ op: 'hold', on });
  }

  hungUp(): void {
    this.tell({ op: 'hungUp' });
  }

  protected take(report: LineReport): void {
    if (report.on === 'speak') this.link.speak(report.audio, report.utterance);
    else if (report.on === 'mark') this.link.mark(report.mark);
    else this.link.clearAudio();
  }

  protected closed(): void {
    this.link.close();
  }
}

/** `media`: the pool of media workers; a call stays on the worker that it began on. */
export const createPhoneMedia = (media: JobRunner, observer: CallObserver): PhoneMedia => ({
  openPhoneCall: (options, link) => new LineCall(media, options, link, observer),
});
