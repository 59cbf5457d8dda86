/**
 * The host of one conversation: performs what its machine decides (actors/agent/agent.ts), between the call, the
 * recogniser, the language model, the voice and the record. Speech and text stream past it.
 *
 * Invariants: the record keeps what had been heard of the agent when it fell silent; late output of a cancelled job is
 * dropped; the session is ended once, after its last item was written.
 */
import { agentMachine } from '../../../actors/agent/agent.js';
import { TIMES } from '../../../actors/agent/times.js';
import { isQuestion } from '../../../actors/agent/turns/endpointing.js';
import type { AgentEffect, AgentEvent, EndReason } from '../../../actors/agent/events.js';
import { type Effects, performed, run, type RunningMachine } from '../../../actors/run.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { ServiceError } from '../../../contracts/errors.js';
import { type Log, withFields } from '../../../contracts/log.js';
import type { AgentChanges } from '../../../contracts/ports/calls/agent-changes.js';
import type { Call, CallEvent } from '../../../contracts/ports/calls/calls.js';
import type { ChatModel } from '../../../contracts/ports/chat.js';
import type { PinnedAgent } from '../../../contracts/ports/sessions/sessions.js';
import { activateSession } from './activation.js';
import { AgentInCharge, type HostedSession } from './agent-in-charge.js';
import { noteAskedBefore } from './asked-before.js';
import { AGENT_EVENTS, type ClientEventHandlers, encodeEvent, keyed, TOPICS } from './client/events.js';
import { Captions } from './client/captions.js';
import { ClientMessages } from './client/messages.js';
import { CLOSED_BY, type ClosedBy, SESSION_ENDS } from './closing.js';
import type { ConversationParts } from './conversation-parts.js';
import { Dialogue, type SpokenStep } from './dialogue.js';
import type { AgentJob, AgentTask } from './job.js';
import { LastWords, LAST_WORDS_MS } from './last-words.js';
import { Listening, type ListeningEvents } from './listening/listening.js';
import { ChatMeter } from './metered-chat.js';
import { pause, RecordWriter } from './record.js';
import { beginningOf, before, firstSegments, lostCalls, timesAfter } from './recovery.js';
import { modelRemarks } from './remarks.js';
import { reply, type ReplyParts, saying, type ModelKnowledge, toldFrom, toldTo } from './replies.js';
import { Speaking, type SpeakingParts } from './speaking.js';
import { CallLines, SpokenLines } from './spoken-lines.js';
import { ToolPermission } from './tools/permission.js';
import { ConversationTools, type ToolParts } from './tools/tools.js';
import { TurnRecord } from './turns/turn-record.js';
import type { UtteranceFailure, Utterance } from './utterance.js';
import { WaitingCaller } from './waiting-caller.js';

type Events = {
  readonly [Kind in CallEvent['kind']]: (event: Extract<CallEvent, { readonly kind: Kind }>) => void;
};

export class Conversation {
  readonly #machine: RunningMachine<AgentEvent>;
  readonly #agent: AgentInCharge;
  readonly #listening: Listening;
  readonly #dialogue: Dialogue;
  readonly #tools: ConversationTools;
  readonly #speaking: Speaking;
  /** Error code of the last failed job. */
  #error: string | undefined;
  /** The client's, for the next reply alone. */
  #instructions: string | undefined;
  /** The longest duration is nearly over: the agent's next sentence is its last. */
  #leaving = false;
  #state = '';
  #activated = false;
  #ending = false;
  #closedBy: ClosedBy | undefined;
  readonly #messages: ClientMessages;
  readonly #record: RecordWriter;
  readonly #turns: TurnRecord;
  readonly #meter: ChatMeter;
  readonly #captions: Captions;
  readonly #log: Log;
  readonly #now: () => Date;
  #told: ModelKnowledge;
  #settle = (): void => undefined;
  readonly #over = new Promise<void>((resolve) => (this.#settle = resolve));
  /** Resolves when the call has brought its last event. Never rejects. */
  readonly #followed: Promise<void>;

  constructor(
    private readonly call: Call,
    private readonly session: HostedSession,
    private readonly parts: ConversationParts,
  ) {
    const { clock } = parts;
    const { id: sessionId, agentId } = session.record;
    const log = (this.#log = withFields(parts.log, { sessionId, agentId }));
    this.#now = timesAfter(session.said, clock);
    this.#messages = new ClientMessages(clock, this.#fromClient, this.#waiting, call);
    this.#record = new RecordWriter(parts);
    this.#dialogue = new Dialogue(this.#now, (item) => this.#record.add(item), before(session.said));
    this.#turns = new TurnRecord({
      clock,
      last: session.lastTurn,
      turnId: () => this.#dialogue.turn,
      keep: (turn) => this.#record.keep(turn),
      over: (turn) => {
        this.#send(AGENT_EVENTS.turnCompleted(turn));
        parts.turnOver(turn);
      },
    });
    this.#captions = new Captions(call, firstSegments(session, this.#now()));
    this.#agent = new AgentInCharge(session, parts.agent, parts.listening.turns?.detector);
    this.#told = toldFrom(session.record.startedAt ?? this.#now(), this.#agent.model);
    this.#speaking = new Speaking(this.#forSpeaking());
    const ahead = (): string => (this.#job?.aloud ? this.#job.utterance.ahead : '');
    const model = (): ChatModel => this.#agent.model;
    this.#meter = new ChatMeter({
      ...parts.thinking,
      ...modelRemarks(log),
      model,
      note: this.#turns.note,
      endpointFailed: (failure) => this.#dialogue.endpointFailed(failure),
    });
    const recognised = (ms: number): void => this.#turns.note({ type: 'used', usage: { recognisedMs: ms } });
    this.#listening = new Listening({ ...parts.listening, log, recognised }, clock, ahead, this.#heard);
    this.#listening.attend(this.#agent.listening);
    this.#tools = new ConversationTools(this.#agent.plan, this.#forTools());
    const perform = this.#turns.performing(performed(this.#effects));
    const beginning = beginningOf(session, this.#agent.settings, this.#now());
    this.#machine = this.#turns.noting(run(agentMachine, beginning, clock, perform));
    this.#followed = this.#follow();
  }

  #forSpeaking(): SpeakingParts {
    const [{ clock, lines }, { call }] = [this.parts, this];
    return {
      call,
      clock,
      log: this.#log,
      now: this.#now,
      note: this.#turns.note,
      captions: this.#captions,
      said: (steps, error, isCorrectable) => {
        if (isCorrectable) this.#cutOff(steps);
        else this.#dialogue.agent(steps, error);
        this.#dialogue.take();
      },
      corrected: (steps) => this.#dialogue.correct(steps),
      agent: this.#agent,
      lines: new CallLines(lines ?? new SpokenLines()),
      isOver: () => this.#ending,
      sounds: (type, job) => this.#machine.send({ type, job }),
      filling: (text) => this.#listening.agentSaid(text),
      filled: (job) => this.#machine.send({ type: 'filled', job }),
      ended: (utterance) => this.#ended(utterance),
      failed: (utterance, failure) => this.#failed(utterance, failure),
    };
  }

  /** What tools need of the conversation. */
  #forTools(): ToolParts {
    return {
      ...this.parts.tools,
      clock: this.parts.clock,
      log: this.#log,
      dialogue: this.#dialogue,
      note: this.#turns.note,
      permission: this.#permission,
      session: this.session,
      job: () => this.#job?.utterance.job ?? 0,
      send: (event) => this.#send(event),
      news: () => this.#machine.send({ type: 'news' }),
      runsBeside: (runs) => this.#machine.send({ type: 'runsBeside', runs }),
      consulting: this.#waiting,
      hangUp: () => this.#machine.send({ type: 'hangUp', job: this.#job?.utterance.job ?? 0 }),
      handOver: (target, signal) => this.#handOver(target, signal),
    };
  }

  /** Its client may say in a moment that another part of it was heard. */
  #cutOff(steps: readonly SpokenStep[]): void {
    this.#dialogue.agentCutOff(steps);
    this.parts.clock.after(CALL_TIMES.correctionMs, () => this.#dialogue.settle());
  }

  get #job(): AgentJob | undefined {
    return this.#speaking.job;
  }

  /** Resolves when the call has ended and its record is kept. */
  get over(): Promise<void> {
    return this.#over;
  }

  /** Whether it is ending: nobody may join it any more. */
  get ending(): boolean {
    return this.#ending;
  }

  /** Ends it from outside of its statechart. Idempotent. */
  closedBy(cause: ClosedBy): void {
    if (!this.#ending) this.#closedBy = cause;
    if (cause === 'shutdown') this.#record.hurry();
    this.#machine.send({ type: 'end', reason: CLOSED_BY[cause] });
  }

  async #follow(): Promise<void> {
    try {
      for await (const event of this.call.events) this.#meet(event);
      this.closedBy('transport');
    } catch (error) {
      this.#log.warn({ part: 'media', err: error }, 'the media of a conversation was lost');
      this.closedBy('mediaLoss');
    }
  }

  #meet(event: CallEvent): void {
    (this.#events[event.kind] as (event: CallEvent) => void)(event);
  }

  readonly #events: Events = {
    connected: () => this.#connected(),
    disconnected: () => this.#machine.send({ type: 'disconnected' }),
    left: () => this.#machine.send({ type: 'left' }),
    speech: (event) => this.#waiting.speech(event),
    audio: ({ samples }) => this.#listening.audio(samples),
    shortPause: ({ active }) => this.#listening.shortPause(active),
    played: ({ utterance, ms, ended }) => this.#played(utterance, ms, ended),
    data: (event) => this.#messages.take(event),
    item: ({ role, text }) => this.#dialogue.brought(role, text),
    answer: ({ text }) => this.#machine.send({ type: 'typed', text, aloud: true }),
    instructions: ({ text }) => (this.#instructions = text),
    amended: ({ changes }) => this.#amend(changes),
    heard: ({ utterance, ms }) => this.#speaking.correct(utterance, ms),
  };

  #amend(changes: AgentChanges): void {
    this.#agent.amend(changes);
    if (changes.tools) this.#tools.enter(this.#agent.plan);
    if (changes.eagerness || changes.interruptible !== undefined)
      this.#machine.send({ type: 'replaced', settings: this.#agent.settings });
  }

  readonly #fromClient: ClientEventHandlers = {
    'user.message': ({ text, aloud }) => this.#machine.send({ type: 'typed', text, aloud }),
    'user.dtmf': ({ digits }) => this.#machine.send({ type: 'typed', text: keyed(digits), aloud: true }),
    'user.activity': () => this.#machine.send({ type: 'activity' }),
    'user.interrupt': () => this.#machine.send({ type: 'interrupt' }),
    'user.hangup': () => this.#machine.send({ type: 'left' }),
    'client_tool.result': ({ callId, result, isError }) => this.#tools.answered(callId, result, isError),
  };

  readonly #permission = new ToolPermission(
    () => this.#job?.utterance.job ?? 0,
    (event) => this.#machine.send(event),
  );

  /** The caller, while the agent connects them to somebody else. */
  readonly #waiting = new WaitingCaller(
    () => ({
      clock: this.parts.clock,
      chat: this.#agent.model,
      utterance: this.#job?.utterance,
      plan: this.#agent.plan,
      said: this.#dialogue.messages,
      ask: (...asked) => this.#meter.ask(this.#job?.utterance.job ?? 0, ...asked),
    }),
    (event) => this.#listening.speech(event),
  );

  /** Activation is queued before the items and not awaited; if the session has ended, so does the conversation. */
  #connected(): void {
    if (this.#ending) return;
    if (!this.#activated) {
      this.#activated = true;
      this.#speaking.connected();
      this.#record.begin(() => activateSession(this.parts, (cause) => this.closedBy(cause)));
      noteAskedBefore(this.session, this.#dialogue);
      for (const outcome of lostCalls(this.session)) this.#dialogue.lost(outcome);
    }
    this.#machine.send({ type: 'connected' });
    // The tool's answer is that nobody took the call.
    if (this.session.returned) this.#machine.send({ type: 'news' });
  }

  readonly #lastWords = new LastWords((text) => this.#dialogue.userApart(text));

  readonly #heard: ListeningEvents = {
    voice: (active, at, silentMs, over) =>
      this.#machine.send({
        ...{ type: 'voice', active, at },
        ...(silentMs !== undefined && { silentMs }),
        ...(over && { over }),
      }),
    transcript: ({ lost, ...heard }) => {
      if (lost !== undefined) this.#unheard(lost);
      const isLost = lost !== undefined && ({ lost: true } as const);
      if (!this.#ending) this.#machine.send({ type: 'transcript', ...heard, ...isLost });
      else this.#lastWords.heard(heard);
    },
    sounded: (span, probability) => this.#machine.send({ type: 'sounded', span, probability }),
    aside: (text, of) => {
      this.#dialogue.aside(text, of);
      if (of === 'echo' && !this.#ending) this.#machine.send({ type: 'echo' });
    },
  };

  readonly #effects: Effects<AgentEffect> = {
    beginSpan: ({ span, joins }) => this.#listening.begin(span, this.#state === 'speaking', joins),
    transcribe: ({ span }) => this.#listening.transcribe(span),
    endOfTurn: () => undefined,
    words: ({ text, final }) => this.#captions.show('user', text, final),
    message: ({ text, typed = false, later = false, backchannel = false }) => {
      if (later && this.#job) return this.#dialogue.postpone(text, backchannel);
      this.#dialogue.take();
      if (typed || later) this.#dialogue.userApart(text, this.#now(), backchannel);
      else this.#dialogue.user(text);
    },
    closeTurn: () => {
      this.#dialogue.closeTurn();
      this.#listening.turnOver();
    },
    reply: ({ job, cause, aloud, draft }) => {
      if (draft === undefined) this.#dialogue.take();
      const think: AgentTask['think'] = (text, signal) =>
        reply(cause, this.#thinking(job, draft), text, signal);
      void this.#speaking.work({ job, aloud, think });
    },
    sure: () => this.#job?.utterance.makeSure(),
    say: ({ job, text }) => void this.#speaking.work({ job, aloud: true, think: saying(text) }),
    excuse: ({ job, aloud, what }) => {
      if (what !== 'understood') this.#send(AGENT_EVENTS.failed(this.#error));
      void this.#speaking.workLine(this.#agent.lines.excuse[what], { job, aloud, error: this.#error });
    },
    proceed: ({ job }) => this.#permission.decide(job, true),
    desist: ({ job }) => this.#permission.decide(job, false),
    warn: ({ job }) => void this.#speaking.workLine(this.#agent.lines.warning, { job, aloud: true }),
    goodbye: ({ job }) => void this.#speaking.workLine(this.#agent.lines.goodbye, { job, aloud: true }),
    fill: ({ job }) => void this.#speaking.fill(job),
    bridge: ({ job }) => void this.#speaking.bridge(job),
    lastWords: () => (this.#leaving = true),
    cancel: () => this.#speaking.cancel(),
    pause: () => this.call.pauseSpeech(),
    resume: () => this.call.resumeSpeech(),
    state: ({ state }) => {
      if (state !== this.#state) this.call.setAttributes({ 'lk.agent.state': state });
      this.#state = state;
    },
    owed: ({ voices }) => this.#lastWords.owe(voices, this.parts.clock.monotonic()),
    end: ({ reason }) => void this.#close(reason),
  };

  #thinking(job: number, draft: string | undefined): ReplyParts {
    const instructions = this.#instructions;
    this.#instructions = undefined;
    return {
      ask: (request, signal) => this.#meter.ask(job, request, signal),
      knowledge: this.parts.thinking.knowledge,
      workspaceId: this.session.record.workspaceId,
      plan: this.#agent.plan,
      dialogue: this.#dialogue,
      tools: this.#tools,
      now: this.#now,
      told: this.#told,
      cues: this.#agent.voice.cues,
      knew: (passages) => this.#turns.note({ type: 'knew', job, passages }),
      informed: () => this.#machine.send({ type: 'informed' }),
      draft,
      instructions,
    };
  }

  /** Switches everything to the other agent; the current utterance is finished in the voice that began it. */
  async #handOver({ agentId, name }: PinnedAgent, signal: AbortSignal): Promise<string | undefined> {
    const job = this.#job?.utterance.job ?? 0;
    const refusal = await this.#agent.handOver(agentId, signal);
    if (refusal !== undefined) return refusal;
    const { plan, listening, settings, model } = this.#agent;
    this.#told = { ...this.#told, ...toldTo(model) };
    this.#tools.enter(plan);
    this.#listening.attend(listening);
    this.#speaking.prepareLines();
    this.#send(AGENT_EVENTS.agentChanged(agentId, name));
    const isNow = this.#job?.utterance.job === job;
    this.#machine.send(isNow ? { type: 'handedOver', job, settings } : { type: 'replaced', settings });
    return undefined;
  }

  /** Takes effect once for each job, and never after its end. */
  #failed(utterance: Utterance, { error, by = 'model' }: UtteranceFailure): void {
    const { job, signal } = utterance;
    if (signal.aborted) return;
    const { code } = error instanceof ServiceError ? error : { code: 'internal' };
    this.#log.warn({ part: by, job, code, err: error }, 'an agent could not answer');
    this.#speaking.cancel();
    this.#error = code;
    this.#turns.note({ type: 'refused', job, code });
    this.#machine.send({ type: 'failed', job, by });
  }

  /** What the user has said, if anything, is unknown. */
  #unheard(code: string): void {
    this.#error = code;
    this.#turns.note({ type: 'refused', job: this.#job?.utterance.job ?? 0, code });
    this.#send(AGENT_EVENTS.failed(code));
  }

  #played(number: number, ms: number, ended: boolean): void {
    const job = this.#job;
    const isNow = job?.utterance.job === number;
    this.#turns.note({ type: 'played', job: number, ms, complete: ended && isNow });
    if (!job || !isNow) return;
    const fresh = job.utterance.progress(ms, ended);
    if (fresh !== '') {
      this.#captions.show('agent', fresh);
      this.#listening.agentSaid(fresh);
    }
    const { failure } = job.utterance;
    if (ended && failure) return this.#failed(job.utterance, failure);
    if (ended && !job.isFiller) return this.#ended(job.utterance);
    if (job.utterance.runsDry(ms)) this.#machine.send({ type: 'dry', job: number });
    if (job.utterance.endsWithin(TIMES.endingMs, ms)) this.#machine.send({ type: 'ending', job: number });
    if (this.#leaving && fresh !== '' && job.utterance.isBetweenSentences)
      this.#machine.send({ type: 'sentenceOver', job: number });
  }

  #ended(utterance: Utterance): void {
    const job = this.#job;
    if (job?.utterance !== utterance) return;
    // In the record, the user's message comes before its answer.
    this.#dialogue.closeTurn();
    this.#speaking.finish(job);
    this.#machine.send({ type: 'asked', isQuestion: isQuestion(utterance.written) });
    this.#machine.send({ type: 'ended', job: utterance.job });
  }

  #send(event: object): void {
    this.call.sendData(TOPICS.toClient, encodeEvent(event));
  }

  async #close(reason: EndReason): Promise<void> {
    this.#ending = true;
    this.#dialogue.closeTurn();
    this.#speaking.cancel();
    this.#dialogue.take();
    this.#dialogue.settle();
    this.#send(AGENT_EVENTS.ended(reason));
    const left = pause(this.parts.clock, CALL_TIMES.goodbyeMs).then(() => this.call.end());
    await Promise.all([left, this.#endSession(reason)]);
    await this.#followed;
    this.#settle();
  }

  /** Never rejects. */
  async #endSession(reason: EndReason): Promise<void> {
    const settled = this.#tools.settled();
    await Promise.race([this.#listening.finish(), pause(this.parts.clock, LAST_WORDS_MS)]);
    this.#listening.stop();
    this.#lastWords.close();
    await Promise.all([settled, this.#meter.settled()]);
    this.#turns.close();
    await this.#record.written();
    await this.parts
      .end(SESSION_ENDS[reason], this.#closedBy)
      .catch((error: unknown) => this.#log.error({ err: error }, 'a session was not ended'));
  }
}
