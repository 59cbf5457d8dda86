/**
 * The host of one conversation: performs what its machine decides (actors/agent/agent.ts), between the call, the
 * recogniser, the language model, the voice and the record. Speech and text stream past it.
 *
 * Invariants: the record keeps what had been heard of the agent when it fell silent; late output of a cancelled job is
 * dropped; the session is ended once, after its last item was written.
 */
import { agentMachine } from '../../../actors/agent/agent.js';
import type { AgentEffect, AgentEvent } from '../../../actors/agent/events.js';
import { type Effects, performed, run, type RunningMachine } from '../../../actors/run.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { type Log, withFields } from '../../../contracts/log.js';
import type { Language } from '../../../contracts/speech/languages.js';
import type { AgentChanges } from '../../../contracts/ports/calls/agent-changes.js';
import type { Call, CallEvent } from '../../../contracts/ports/calls/calls.js';
import type { PinnedAgent } from '../../../contracts/ports/sessions/sessions.js';
import { activateSession } from './activation.js';
import { AgentInCharge, type HostedSession } from './agent-in-charge.js';
import { noteAskedBefore } from './asked-before.js';
import { CallerWords, type CallerWordsParts } from './caller-words.js';
import { AGENT_EVENTS, type ClientEventHandlers, encodeEvent, keyed, TOPICS } from './client/events.js';
import { Captions } from './client/captions.js';
import { ClientMessages } from './client/messages.js';
import { CLOSED_BY, type ClosedBy } from './closing.js';
import type { ConversationParts } from './conversation-parts.js';
import { Dialogue, type SpokenStep } from './dialogue.js';
import { Ending, type EndingParts } from './ending.js';
import type { AgentJob, AgentTask } from './job.js';
import { JobProgress } from './job-progress.js';
import type { AgentState, Listening } from './listening/listening.js';
import { RecordWriter } from './record.js';
import { beginningOf, before, firstSegments, lostCalls, timesAfter } from './recovery.js';
import { reply, saying } from './replies.js';
import { Speaking, type SpeakingParts } from './speaking.js';
import { CallLines, SpokenLines } from './spoken-lines.js';
import { Thinking, type ThinkingParts } from './thinking.js';
import { ToolPermission } from './tools/permission.js';
import { ConversationTools, type ToolParts } from './tools/tools.js';
import { TurnRecord } from './turns/turn-record.js';
import { WaitingCaller } from './waiting-caller.js';

type Events = {
  readonly [Kind in CallEvent['kind']]: (event: Extract<CallEvent, { readonly kind: Kind }>) => void;
};

export class Conversation {
  readonly #machine: RunningMachine<AgentEvent>;
  readonly #agent: AgentInCharge;
  readonly #words: CallerWords;
  readonly #dialogue: Dialogue;
  readonly #tools: ConversationTools;
  readonly #speaking: Speaking;
  readonly #progress: JobProgress;
  readonly #thinking: Thinking;
  readonly #ending: Ending;
  #state: AgentState = '';
  #activated = false;
  readonly #messages: ClientMessages;
  readonly #record: RecordWriter;
  readonly #turns: TurnRecord;
  readonly #captions: Captions;
  readonly #log: Log;
  readonly #now: () => Date;
  /** Resolves when the call has brought its last event. Never rejects. */
  readonly #followed: Promise<void>;

  constructor(
    private readonly call: Call,
    private readonly session: HostedSession,
    private readonly parts: ConversationParts,
  ) {
    const { clock } = parts;
    const { id: sessionId, agentId } = session.record;
    this.#log = withFields(parts.log, { sessionId, agentId });
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
    this.#words = new CallerWords(this.#forWords());
    this.#listening.attend(this.#agent.listening);
    this.#thinking = new Thinking(this.#forThinking());
    this.#speaking = new Speaking(this.#forSpeaking());
    this.#tools = new ConversationTools(this.#agent.plan, this.#forTools());
    this.#progress = new JobProgress({
      ...this.#common,
      speaking: this.#speaking,
      listening: this.#listening,
    });
    this.#ending = new Ending(this.#forEnding());
    const perform = this.#words.written.performing(this.#turns.performing(performed(this.#effects)));
    const inCharge = this.#agent.plan;
    const beginning = beginningOf({ ...session, inCharge }, this.#agent.settings, this.#now());
    this.#machine = this.#turns.noting(run(agentMachine, beginning, clock, perform));
    this.#followed = this.#follow();
  }

  /** What its parts have in common. */
  get #common() {
    return {
      call: this.call,
      clock: this.parts.clock,
      log: this.#log,
      now: this.#now,
      note: this.#turns.note,
      agent: this.#agent,
      dialogue: this.#dialogue,
      captions: this.#captions,
      isOver: () => this.#ending.begun,
      send: (event: object) => this.#send(event),
      tell: (event: AgentEvent) => this.#machine.send(event),
    };
  }

  #forWords(): CallerWordsParts {
    return {
      ...this.#common,
      listening: this.parts.listening,
      ahead: () => (this.#job?.aloud ? this.#job.utterance.ahead : ''),
      saying: () => this.#job?.utterance.heard ?? '',
      spoken: (language) => this.#speakIn(language),
      unheard: (code) => this.#progress.unheard(code),
    };
  }

  #forThinking(): ThinkingParts {
    return {
      ...this.#common,
      session: this.session,
      thinking: this.parts.thinking,
      tools: () => this.#tools,
      informed: () => this.#machine.send({ type: 'informed' }),
    };
  }

  #forEnding(): EndingParts {
    return {
      ...this.#common,
      speaking: this.#speaking,
      words: this.#words,
      thinking: this.#thinking,
      tools: this.#tools,
      turns: this.#turns,
      record: this.#record,
      session: this.parts,
      followed: () => this.#followed,
    };
  }

  #forSpeaking(): SpeakingParts {
    return {
      ...this.#common,
      said: (steps, error, isCorrectable) => {
        if (isCorrectable) this.#cutOff(steps);
        else this.#dialogue.agent(steps, error);
        this.#dialogue.take();
      },
      corrected: (steps) => this.#dialogue.correct(steps),
      lines: new CallLines(this.parts.lines ?? new SpokenLines()),
      sounds: (type, job) => this.#machine.send({ type, job }),
      filling: (text) => this.#listening.agentSaid(text),
      filled: (job) => this.#machine.send({ type: 'filled', job }),
      ended: (utterance) => this.#progress.ended(utterance),
      failed: (utterance, failure) => this.#progress.failed(utterance, failure),
    };
  }

  /** What tools need of the conversation. */
  #forTools(): ToolParts {
    return {
      ...this.parts.tools,
      ...this.#common,
      permission: this.#permission,
      session: this.session,
      job: () => this.#jobNumber,
      news: () => this.#machine.send({ type: 'news' }),
      runsBeside: (runs) => this.#machine.send({ type: 'runsBeside', runs }),
      consulting: this.#waiting,
      hangUp: () => this.#machine.send({ type: 'hangUp', job: this.#jobNumber }),
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

  get #jobNumber(): number {
    return this.#job?.utterance.job ?? 0;
  }

  get #listening(): Listening {
    return this.#words.listening;
  }

  /** Resolves when the call has ended and its record is kept. */
  get over(): Promise<void> {
    return this.#ending.over;
  }

  /** Whether it is ending: nobody may join it any more. */
  get ending(): boolean {
    return this.#ending.begun;
  }

  /** Ends it from outside of its statechart. Idempotent. */
  closedBy(cause: ClosedBy): void {
    this.#ending.causedBy(cause);
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
    played: ({ utterance, ms, ended }) => this.#progress.played(utterance, ms, ended),
    data: (event) => this.#messages.take(event),
    item: ({ role, text }) => this.#dialogue.brought(role, text),
    answer: ({ text }) => this.#machine.send({ type: 'typed', text, aloud: true }),
    instructions: ({ text }) => this.#thinking.instruct(text),
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
    'captions.live': () => this.#listening.showWords(),
    'user.interrupt': () => this.#machine.send({ type: 'interrupt' }),
    'user.hangup': () => this.#machine.send({ type: 'left' }),
    'client_tool.result': ({ callId, result, isError }) => this.#tools.answered(callId, result, isError),
  };

  readonly #permission = new ToolPermission(
    () => this.#jobNumber,
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
      ask: (...asked) => this.#thinking.ask(this.#jobNumber, ...asked),
    }),
    (event) => this.#listening.speech(event),
  );

  /** Activation is queued before the items and not awaited; if the session has ended, so does the conversation. */
  #connected(): void {
    if (this.#ending.begun) return;
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

  readonly #effects: Effects<AgentEffect> = {
    beginSpan: ({ span, joins }) => this.#listening.begin(span, this.#state, joins),
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
        reply(cause, this.#thinking.replyOf(job, draft), text, signal);
      void this.#speaking.work({ job, aloud, isDraft: draft !== undefined, think });
    },
    sure: () => this.#job?.utterance.makeSure(),
    say: ({ job, text }) => void this.#speaking.work({ job, aloud: true, think: saying(text) }),
    excuse: ({ job, aloud, what }) => {
      const { error } = this.#progress;
      if (what !== 'understood') this.#send(AGENT_EVENTS.failed(error));
      void this.#speaking.workLine(this.#agent.lines.excuse[what], { job, aloud, error });
    },
    proceed: ({ job }) => this.#permission.decide(job, true),
    desist: ({ job }) => this.#permission.decide(job, false),
    warn: ({ job }) => void this.#speaking.workLine(this.#agent.lines.warning, { job, aloud: true }),
    goodbye: ({ job }) => void this.#speaking.workLine(this.#agent.lines.goodbye, { job, aloud: true }),
    fill: ({ job }) => void this.#speaking.fill(job),
    bridge: ({ job }) => void this.#speaking.bridge(job),
    lastWords: () => this.#progress.leave(),
    cancel: () => this.#speaking.cancel(),
    pause: () => this.call.pauseSpeech(),
    resume: () => this.call.resumeSpeech(),
    state: ({ state }) => {
      if (state !== this.#state) this.call.setAttributes({ 'lk.agent.state': state });
      this.#state = state;
    },
    owed: ({ voices }) => this.#words.owe(voices),
    end: ({ reason }) => void this.#ending.close(reason),
  };

  /** The user has changed to that language: whatever the agent says from now on is in it, and so are its lines. */
  #speakIn(language: Language): void {
    if (!this.#agent.speakIn(language)) return;
    this.#listening.attend(this.#agent.listening);
    this.#speaking.prepareLines();
    this.#send(AGENT_EVENTS.languageChanged(language));
    this.#machine.send({ type: 'replaced', settings: this.#agent.settings });
  }

  /** Switches everything to the other agent; the current utterance is finished in the voice that began it. */
  async #handOver({ agentId, name }: PinnedAgent, signal: AbortSignal): Promise<string | undefined> {
    const job = this.#jobNumber;
    const refusal = await this.#agent.handOver(agentId, signal);
    if (refusal !== undefined) return refusal;
    const { plan, listening, settings } = this.#agent;
    this.#thinking.handedOver();
    this.#tools.enter(plan);
    this.#listening.attend(listening);
    this.#speaking.prepareLines();
    this.#send(AGENT_EVENTS.agentChanged(agentId, name));
    const isNow = this.#job?.utterance.job === job;
    this.#machine.send(isNow ? { type: 'handedOver', job, settings } : { type: 'replaced', settings });
    return undefined;
  }

  #send(event: object): void {
    this.call.sendData(TOPICS.toClient, encodeEvent(event));
  }
}
