/**
 * What becomes of the agent's jobs: how much of each is heard as it is played, that it has ended, or why it failed.
 *
 * Invariant: a job ends once, or fails once; news of one that was cancelled or replaced change nothing but its turn.
 */
import type { AgentEvent } from '../../../actors/agent/events.js';
import { TIMES } from '../../../actors/agent/times.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { Log } from '../../../contracts/log.js';
import type { AgentInCharge } from './agent-in-charge.js';
import type { Captions } from './client/captions.js';
import { AGENT_EVENTS } from './client/events.js';
import type { Dialogue } from './dialogue.js';
import { questionIn } from './hearing/asked.js';
import type { Listening } from './listening/listening.js';
import type { Speaking } from './speaking.js';
import type { NoteTurn } from './turns/turn-events.js';
import type { Utterance, UtteranceFailure } from './utterance.js';

export interface JobProgressParts {
  readonly agent: Pick<AgentInCharge, 'language'>;
  readonly speaking: Pick<Speaking, 'job' | 'cancel' | 'finish'>;
  readonly listening: Pick<Listening, 'agentSaid'>;
  readonly dialogue: Pick<Dialogue, 'closeTurn'>;
  readonly captions: Pick<Captions, 'show'>;
  readonly log: Log;
  readonly note: NoteTurn;
  /** Tells the agent's statechart. */
  readonly tell: (event: AgentEvent) => void;
  /** Sends an event to the client. */
  readonly send: (event: object) => void;
}

export class JobProgress {
  /** Error code of the last failed job, or of words that nobody could recognise. */
  #error: string | undefined;
  /** The longest duration is nearly over: the agent's next sentence is its last. */
  #leaving = false;

  constructor(private readonly parts: JobProgressParts) {}

  get error(): string | undefined {
    return this.#error;
  }

  /** The agent stops with its next sentence. */
  leave(): void {
    this.#leaving = true;
  }

  /** What the user has said, if anything, is unknown: the code of the recogniser's failure. */
  unheard(code: string): void {
    const { speaking, send } = this.parts;
    this.#refuse(speaking.job?.utterance.job ?? 0, code);
    send(AGENT_EVENTS.failed(code));
  }

  /** The job fails for that reason, as its turn says. */
  #refuse(job: number, code: string): void {
    this.#error = code;
    this.parts.note({ type: 'refused', job, code });
  }

  /** `ms` of a job have been played; `ended`: no more of it follows. */
  played(number: number, ms: number, ended: boolean): void {
    const { speaking, note, tell } = this.parts;
    const { job } = speaking;
    const isNow = job?.utterance.job === number;
    note({ type: 'played', job: number, ms, complete: ended && isNow });
    if (!job || !isNow) return;
    const { utterance } = job;
    const fresh = utterance.progress(ms, ended);
    if (fresh !== '') this.#heard(fresh);
    const { failure } = utterance;
    if (ended && failure) return this.failed(utterance, failure);
    if (ended && !job.isFiller) return this.ended(utterance);
    if (utterance.runsDry(ms)) tell({ type: 'dry', job: number });
    if (utterance.endsWithin(TIMES.endingMs, ms)) tell({ type: 'ending', job: number });
    if (this.#leaving && fresh !== '' && utterance.isBetweenSentences)
      tell({ type: 'sentenceOver', job: number });
  }

  #heard(text: string): void {
    this.parts.captions.show('agent', text);
    this.parts.listening.agentSaid(text);
  }

  /** The job has nothing more to say. */
  ended(utterance: Utterance): void {
    const { agent, speaking, dialogue, tell } = this.parts;
    const { job } = speaking;
    if (job?.utterance !== utterance) return;
    // In the record, the user's message comes before its answer.
    dialogue.closeTurn();
    speaking.finish(job);
    tell({ type: 'asked', ...questionIn(utterance.written, agent.language) });
    tell({ type: 'ended', job: utterance.job });
  }

  /** Takes effect once for each job, and never after its end. */
  failed({ job, signal }: Utterance, { error, by = 'model' }: UtteranceFailure): void {
    if (signal.aborted) return;
    const { code } = error instanceof ServiceError ? error : { code: 'internal' };
    this.parts.log.warn({ part: by, job, code, err: error }, 'an agent could not answer');
    this.parts.speaking.cancel();
    this.#refuse(job, code);
    this.parts.tell({ type: 'failed', job, by });
  }
}
