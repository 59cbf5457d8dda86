/**
 * The call to a colleague for whom a caller waits: briefs the colleague, and asks for consent if the transfer requires it. It runs
 * in the process that the provider's stream has reached, and reports its outcome in the transfer's row.
 *
 * Invariants: exactly one decision is reported, even if the colleague hangs up or says nothing, and nothing is said after it; words
 * count as an answer only once the question is being said, as people pick up with a "yes"; the call ends with the transfer.
 */
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import { DEFAULT_TRANSCRIPTION_MODEL } from '../../../contracts/speech/models.js';
import type { CallEvent, PhoneCall } from '../../../contracts/ports/calls/calls.js';
import type { Transfers } from '../../../contracts/ports/phone/transfers.js';
import type { Speech, Transcription } from '../../../contracts/ports/speech/speech.js';
import { isUnsuccessful } from '../../../contracts/phone/transfer-states.js';
import type { Briefing, Transfer } from '../../../contracts/phone/transfers.js';
import { voiceOptions } from '../calls/owned-call.js';
import type { RegisteredCall } from '../calls/registry.js';
import { readClientEvent, TOPICS } from '../conversations/client/events.js';
import { questionIn } from '../conversations/lines.js';
import { Listening } from '../conversations/listening/listening.js';
import { type AgentVoice, Utterance } from '../conversations/utterance.js';
import { consentByKeys, consentOf } from './consent.js';
import type { Streamed } from './streamed-call.js';
import type { Transferring } from './transferring.js';

export interface ConsultationParts {
  readonly transfers: Pick<Transfers, 'report' | 'onChange' | 'find'>;
  readonly transferring: Pick<Transferring, 'report'>;
  readonly speech: Pick<Speech, 'synthesizeTimed'>;
  readonly transcription: Transcription;
  readonly clock: Clock;
  readonly log: Log;
}

type Decision = 'yes' | 'no' | 'silent' | 'gone';

const REFUSED: Readonly<Record<Exclude<Decision, 'yes'>, string | undefined>> = {
  no: undefined,
  silent: 'The colleague gave no answer',
  gone: 'The colleague hung up',
};

/** How often the question is said, and the time for an answer after it. */
const TIMES = 3;
const ANSWER_MS = 8000;
const { consultMs } = LIMITS.phone;

export class Consultation implements Streamed, RegisteredCall {
  readonly id: string;
  readonly workspaceId: string;
  /** Resolves when the call has ended. Never rejects. */
  readonly over: Promise<void>;
  #decided = false;
  #settle = (_: Decision): void => undefined;
  readonly #decision = new Promise<Decision>((resolve) => (this.#settle = resolve));
  #utterance: Utterance | undefined;
  #wasHeard = (): void => undefined;
  #number = 0;
  #span = 0;
  /** The first stretch of voice that may be an answer. */
  #answers = Infinity;
  readonly #listening: Listening;

  constructor(
    readonly media: PhoneCall,
    private readonly transfer: Transfer,
    private readonly briefing: Briefing,
    private readonly parts: ConsultationParts,
  ) {
    this.id = transfer.id;
    this.workspaceId = transfer.workspaceId;
    const { transcription, clock, log } = parts;
    const { language } = briefing;
    const listening = { transcription, model: DEFAULT_TRANSCRIPTION_MODEL, language, log };
    this.#listening = new Listening(
      { ...listening, caller: this.#caller, recognised: () => undefined },
      clock,
      () => this.#utterance?.ahead ?? '',
      {
        voice: (active) => this.#voiced(active),
        transcript: ({ span, text, final }) => this.#said(span, text, final),
        spoken: () => undefined,
        sounded: () => undefined,
        aside: () => undefined,
      },
    );
    this.over = this.#run();
  }

  get #caller() {
    return { workspaceId: this.transfer.workspaceId, keyId: 'session', isLive: true, isCall: true };
  }

  hungUp(): void {
    this.media.hungUp();
  }

  broken(): void {
    this.media.hungUp();
  }

  /** Ends it from outside: this process stops, or the transfer has ended. */
  closedBy(): void {
    this.#decide('gone');
    this.media.end();
  }

  /** The first decision counts. */
  #decide(decision: Decision): void {
    this.#decided = true;
    this.#settle(decision);
  }

  async #run(): Promise<void> {
    const { transfers, clock, log } = this.parts;
    const leave = transfers.onChange(this.id, () => void this.#look());
    const stop = clock.after(consultMs, () => this.#decide('silent'));
    const followed = this.#follow();
    try {
      void this.#ask().catch((error: unknown) => this.#failed(error));
      await this.#tell(await this.#decision);
    } catch (error) {
      log.error({ err: error, transfer: this.id }, 'a colleague was not asked');
      this.media.end();
    } finally {
      stop();
      this.#utterance?.cancel();
      this.#listening.stop();
    }
    // The provider moves the call away from its stream, or it was hung up there.
    const late = clock.after(consultMs, () => this.media.end());
    await followed;
    late();
    leave();
  }

  /** Ends the call if its transfer has ended. */
  async #look(): Promise<void> {
    const transfer = await this.parts.transfers.find(this.id).catch(() => undefined);
    if (transfer && isUnsuccessful(transfer)) this.closedBy();
  }

  async #follow(): Promise<void> {
    try {
      for await (const event of this.media.events) this.#meet(event);
    } catch (error) {
      this.parts.log.warn({ err: error, transfer: this.id }, 'the media of a call to a colleague was lost');
    }
    this.#decide('gone');
  }

  #meet(event: CallEvent): void {
    if (event.kind === 'speech') this.#listening.speech(event);
    else if (event.kind === 'audio') this.#listening.audio(event.samples);
    else if (event.kind === 'played') this.#played(event);
    else if (event.kind === 'data') this.#pressed(event);
    else if (event.kind === 'left') this.closedBy();
  }

  #played({ utterance, ms, ended }: Extract<CallEvent, { readonly kind: 'played' }>): void {
    if (utterance !== this.#number) return;
    const heard = this.#utterance?.progress(ms, ended) ?? '';
    if (heard !== '') this.#listening.agentSaid(heard);
    if (ended) this.#wasHeard();
  }

  #voiced(active: boolean): void {
    if (active) this.#listening.begin((this.#span += 1), this.#utterance ? 'speaking' : 'listening');
    else this.#listening.transcribe(this.#span);
  }

  #said(span: number, text: string, final: boolean): void {
    const answer = final && span >= this.#answers ? consentOf(text, this.briefing.language) : undefined;
    if (answer) this.#decide(answer);
  }

  #pressed({ topic, payload }: Extract<CallEvent, { readonly kind: 'data' }>): void {
    const event = topic === TOPICS.fromClient ? readClientEvent(payload) : undefined;
    const answer =
      event?.type === 'user.dtmf' && this.briefing.asks ? consentByKeys(event.digits) : undefined;
    if (answer) this.#decide(answer);
  }

  async #ask(): Promise<void> {
    const { text, asks, language } = this.briefing;
    await this.#say(text);
    if (!asks) return this.#decide('yes');
    this.#answers = this.#span + 1;
    for (let times = 0; times < TIMES && !this.#decided; times += 1) {
      await this.#say(questionIn(language));
      await this.#answer();
    }
    this.#decide('silent');
  }

  /** Resolves with the decision, or after ANSWER_MS. */
  #answer(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.parts.clock.after(ANSWER_MS, resolve);
      void this.#decision.then(() => {
        stop();
        resolve();
      });
    });
  }

  /** Resolves when the text has been heard. */
  async #say(text: string): Promise<void> {
    const { speech, clock, log } = this.parts;
    const utterance = new Utterance(
      (this.#number += 1),
      this.media,
      () => new Date(clock.now()),
      () => undefined,
    );
    const heard = new Promise<void>((resolve) => (this.#wasHeard = resolve));
    const voice: AgentVoice = {
      speech,
      options: voiceOptions(this.briefing),
      caller: this.#caller,
      substituted: () => log.warn({ transfer: this.id }, 'an agent’s voice is gone: the default speaks'),
    };
    this.#utterance = utterance;
    utterance.write(text);
    utterance.endText();
    if (await utterance.speak(voice, () => undefined)) await heard;
    this.#utterance = undefined;
  }

  /** A colleague who cannot be briefed counts as silent. */
  #failed(error: unknown): void {
    this.parts.log.warn({ err: error, transfer: this.id }, 'a colleague could not be told');
    this.#decide('silent');
  }

  async #tell(decision: Decision): Promise<void> {
    const { transfers, transferring } = this.parts;
    if (decision !== 'yes') {
      await transferring.report(this.transfer, 'refused', { reason: REFUSED[decision] });
      return this.media.end();
    }
    this.media.clearSpeech();
    if (!(await transfers.report(this.id, { state: 'accepted' }))) this.media.end();
  }
}
