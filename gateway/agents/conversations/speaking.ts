/**
 * The agent's jobs as sound: thinks and speaks in parallel, says fixed lines that were made ahead, and fillers while the answer takes long.
 * One job at a time; what was made of it before thinking or voice fails is heard first.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import type { Call } from '../../../contracts/ports/calls/calls.js';
import type { StandIn } from '../../../contracts/ports/speech/speech.js';
import type { AgentInCharge } from './agent-in-charge.js';
import type { Captions } from './client/captions.js';
import type { SpokenStep } from './dialogue.js';
import type { AgentJob, AgentTask } from './job.js';
import { saying } from './replies.js';
import { lengthMs, type SpokenLine } from './spoken-line.js';
import type { CallLines } from './spoken-lines.js';
import type { NoteTurn } from './turns/turn-events.js';
import { type AgentVoice, type UtteranceFailure, shown, Utterance } from './utterance.js';

export interface SpeakingParts {
  readonly call: Call;
  readonly clock: Clock;
  readonly log: Log;
  readonly now: () => Date;
  readonly note: NoteTurn;
  readonly captions: Captions;
  readonly lines: CallLines;
  readonly agent: Pick<AgentInCharge, 'voice' | 'lines' | 'linesAtHand'>;
  /** The job is over: that much of it was heard, or read; `error`: why it was an excuse; `isCorrectable`: the client may correct it soon. */
  said(steps: readonly SpokenStep[], error: string | undefined, isCorrectable: boolean): void;
  /** The client says that this was heard of the last job instead, which was cut off. */
  corrected(steps: readonly SpokenStep[]): void;
  /** The first audio of the job is on its way; there is more of it, after all before had been heard. */
  sounds(how: 'audible' | 'fed', job: number): void;
  /** The user hears a filler with this text; then that of the job has been heard. */
  filling(text: string): void;
  filled(job: number): void;
  /** Whether the call is ending. */
  isOver(): boolean;
  /** The job has nothing more to say, or has failed. */
  ended(utterance: Utterance): void;
  failed(utterance: Utterance, failure: UtteranceFailure): void;
}

/** The fixed lines of a call are made this long after its beginning, so that the opening does not wait for them. */
const LINES_AFTER_MS = 1500;

export class Speaking {
  /** The running job. */
  job: AgentJob | undefined;
  /** The last filler that was wanted as a job of its own; undefined once it was cancelled. */
  #bridge: number | undefined;
  /** The last answer that was cut off, if the client may correct how much of it was heard. */
  #cutOff: Utterance | undefined;

  constructor(private readonly parts: SpeakingParts) {}

  /** The user is connected: the fixed lines are made soon. */
  connected(): void {
    this.parts.clock.after(LINES_AFTER_MS, () => this.prepareLines());
  }

  /** Makes the agent's fixed lines. */
  prepareLines(): void {
    const { lines, agent } = this.parts;
    if (!this.parts.isOver()) void lines.prepare(this.#voice, agent.linesAtHand);
  }

  /** The agent's voice, and what is done where its engine fails. */
  get #voice(): AgentVoice {
    const { options, ...voice } = this.parts.agent.voice;
    const failed: StandIn['failed'] = (failure) =>
      this.parts.log.warn({ part: 'voice', ...failure }, 'a voice failed somebody on the line');
    return { ...voice, options: { ...options, standIn: { failed } } };
  }

  get #hasCues(): boolean {
    return this.parts.agent.voice.cues !== undefined;
  }

  /** Falls silent at once; the record keeps what was heard until now. */
  cancel(): void {
    const { job } = this;
    this.#bridge = undefined;
    if (!job) return;
    job.utterance.cancel();
    this.parts.call.clearSpeech();
    this.#cutOff = this.#isCorrectable(job) ? job.utterance : undefined;
    this.finish(job);
  }

  /** Only whole answers, whose record is one message. */
  #isCorrectable({ utterance, aloud, error }: AgentJob): boolean {
    return this.parts.call.correctable === true && aloud && error === undefined && utterance.isPlain;
  }

  /** That many milliseconds of an utterance that was cut off were heard, as its client says. */
  correct(utterance: number, ms: number): void {
    const cut = this.#cutOff;
    if (cut?.job === utterance) this.parts.corrected(cut.stepsOf(cut.heardIn(ms)));
  }

  finish({ utterance, aloud, error }: AgentJob): void {
    this.job = undefined;
    const said = aloud ? utterance.heard : utterance.written;
    this.parts.said(utterance.stepsOf(said), error, this.#cutOff === utterance);
    if (said.trim() !== '' || utterance.hasFillers) this.parts.captions.show('agent', '', true);
  }

  /** Says a fixed line. */
  workLine(text: string, work: Pick<AgentTask, 'job' | 'aloud' | 'error'>): Promise<void> {
    const line = work.aloud ? { line: this.parts.lines.of(this.#voice, text) } : {};
    line.line?.catch(() => undefined);
    return this.work({ ...work, ...line, think: saying(text) });
  }

  /** Says a filler, unless the answer is faster. Never rejects. */
  async fill(job: number): Promise<void> {
    const { agent, lines } = this.parts;
    const line = await lines.of(this.#voice, agent.lines.filler).catch(() => undefined);
    const utterance = this.job?.utterance;
    if (line && utterance?.job === job) this.#sayFiller(utterance, line);
  }

  /** Says a filler as a job of its own, unless another one has begun. Never rejects. */
  async bridge(job: number): Promise<void> {
    const { agent, lines, call, now, note } = this.parts;
    this.#bridge = job;
    const line = await lines.of(this.#voice, agent.lines.filler).catch(() => undefined);
    // The user has spoken on, or an answer has begun.
    if (this.#bridge !== job || this.job || this.parts.isOver()) return;
    if (!line) return this.parts.filled(job);
    const utterance = new Utterance(job, call, now, note, this.#hasCues);
    this.job = { utterance, aloud: true, error: undefined, isFiller: true };
    this.#sayFiller(utterance, line);
    call.finishUtterance(job);
  }

  #sayFiller(utterance: Utterance, line: SpokenLine): void {
    const { captions, clock } = this.parts;
    if (!utterance.fill(line)) return;
    captions.show('agent', utterance.heard === '' ? `${line.text} ` : ` ${line.text} `);
    this.parts.filling(line.text);
    clock.after(lengthMs(line), () => this.#filled(utterance));
  }

  /** A filler has been heard; one that was a job of its own is over. */
  #filled(utterance: Utterance): void {
    if (this.job?.utterance === utterance && this.job.isFiller) this.finish(this.job);
    this.parts.filled(utterance.job);
  }

  /** Thinks and speaks in parallel; what was made before either fails is heard first. Never rejects. */
  async work({ job, aloud, error: excused, isDraft = false, line, think }: AgentTask): Promise<void> {
    const { call, now, note, captions } = this.parts;
    // A filler that is still heard is followed by it.
    if (this.job) this.finish(this.job);
    const utterance = new Utterance(job, call, now, note, this.#hasCues);
    if (isDraft) utterance.makeDraft();
    this.job = { utterance, aloud, error: excused };
    const speaking = aloud ? this.#speak(utterance, line) : Promise.resolve(false);
    // A voice that fails ends the thinking too.
    const spoken = speaking.catch((error: unknown) => this.parts.failed(utterance, { error, by: 'speech' }));
    try {
      await think(aloud ? utterance : shown(utterance, captions), utterance.signal);
    } catch (error) {
      if (!aloud || !utterance.breakOff({ error })) return this.parts.failed(utterance, { error });
    }
    utterance.endText();
    if ((await spoken) || utterance.signal.aborted) return;
    if (utterance.failure) return this.parts.failed(utterance, utterance.failure);
    // An answer without anything to say, of emoji for instance, fails, so that nobody waits for it.
    if (aloud && utterance.saysSomething)
      return this.parts.failed(utterance, { error: new ServiceError('nothing_to_say') });
    this.parts.ended(utterance);
  }

  async #speak(utterance: Utterance, line: AgentTask['line']): Promise<boolean> {
    const { job } = utterance;
    const sounding = (how: 'audible' | 'fed'): void => this.parts.sounds(how, job);
    return line ? utterance.sayLine(await line, sounding) : utterance.speak(this.#voice, sounding);
  }
}
