/**
 * Makes a row of each turn of a conversation from the events of its machine and its host (contracts/sessions/turns.ts). Pure: times
 * come with the events.
 *
 * Invariants: every message of the user except backchannels, and every job of the agent, is part of one row; a row ends once,
 * and later news changes it; usage is counted in exactly one row, in the last one if nothing follows.
 */
import type { Cause, EndReason } from '../../../../actors/agent/events.js';
import { joined } from '../../../../actors/agent/turns/stretches.js';
import {
  addUsage,
  type InterruptedBy,
  NO_USAGE,
  type TurnCause,
  type Usage,
} from '../../../../contracts/sessions/turns.js';
import { TurnDrafts } from './turn-drafts.js';
import type { TellTurn, TurnEvent, TurnPhase } from './turn-events.js';
import { TurnAnswer, noteWords, TurnRow, type UserSpeech } from './turn-row.js';

/** How the end of a call interrupts its turns; not at all if the agent has ended it. */
const BY_END: Readonly<Partial<Record<EndReason, InterruptedBy>>> = {
  user_hangup: 'hang_up',
  gone: 'gone',
  conversation_timeout: 'timeout',
  ended_by_api: 'api',
  transport_lost: 'error',
  error: 'error',
};

/** How many of the newest rows late news may still change. */
const RECENT = 16;

type Of<Type extends TurnEvent['type']> = Extract<TurnEvent, { readonly type: Type }>;
type Handlers = { readonly [Type in TurnEvent['type']]?: (event: Of<Type>, at: number) => void };

export class TurnLog {
  #speech: UserSpeech = {};
  /** The row whose answer is running or awaited. */
  #current: TurnRow | undefined;
  /** The row of messages that are answered once the agent has finished. */
  #later: TurnRow | undefined;
  readonly #drafts = new TurnDrafts();
  readonly #recent: TurnRow[] = [];
  #paused = false;
  #refusal: string | null = null;

  /** `epoch`: turns its times into times of day; `turnId`: that of messages recorded now; `last`: number of the row before its first. */
  constructor(
    private readonly epoch: number,
    private readonly turnId: () => number,
    private readonly tell: TellTurn,
    private last = 0,
  ) {}

  note(event: TurnEvent, at: number): void {
    (this.#handlers[event.type] as ((event: TurnEvent, at: number) => void) | undefined)?.(
      event,
      Math.round(at),
    );
  }

  /** Ends all rows: nothing follows. */
  close(at: number): void {
    this.#drafts.discardAll();
    for (const row of [this.#current, this.#later]) if (row) this.#over(row, Math.round(at));
    const last = this.#recent.at(-1);
    if (last && this.#drafts.spend(last)) this.#changed(last);
  }

  readonly #handlers: Handlers = {
    voice: ({ active, silentMs }, at) => {
      this.#speech.active = active;
      this.#speech.silentMs = silentMs;
      this.#speech[active ? 'voiceAt' : 'silentAt'] = at;
    },
    transcript: (event, at) => this.#heard(event, at),
    endOfTurn: (decision) => (this.#speech.decision = decision),
    spokenIn: ({ language }) => (this.#speech.language = language),
    message: (message, at) => this.#message(message, at),
    closeTurn: (_event, at) => {
      const row = this.#current;
      if (!row) return;
      row.closed = true;
      if (row.ended !== undefined) this.#over(row, at);
    },
    reply: ({ job, cause, draft }, at) => {
      const answer = this.#answer(job, draft !== undefined);
      answer.timeline.enter('waiting', at);
      if (draft === undefined) this.#answers(this.#rowFor(cause, at), answer);
      else this.#drafts.add(answer);
    },
    say: ({ job }, at) => this.#sentence('opener', job, at),
    warn: ({ job }, at) => this.#sentence('warning', job, at),
    goodbye: ({ job }, at) => this.#sentence('farewell', job, at),
    excuse: ({ job }, at) => this.#excuse(job, at),
    fill: ({ job }, at) => this.#find(job)?.begin(at),
    sure: ({ job }) => {
      const draft = this.#drafts.take(job);
      if (this.#current && draft) this.#answers(this.#current, draft);
    },
    cancel: (event, at) => this.#cancelled(event, at),
    pause: (_event, at) => this.#pause(at),
    resume: ({ goesOn }, at) => this.#resume(goesOn, at),
    audible: ({ job }, at) => this.#find(job)?.begin(at),
    acted: ({ job }, at) => this.#enter(job, 'tools', at),
    returned: ({ job }, at) => this.#enter(job, 'waiting', at),
    ended: ({ job }, at) => this.#jobOver(job, at),
    failed: ({ job }, at) => {
      if (this.#find(job)?.isExcuse) this.#jobOver(job, at);
    },
    end: ({ reason }, at) => this.#end(reason, at),

    knew: ({ job, passages }) => {
      const answer = this.#find(job);
      if (answer) answer.passages = passages;
    },
    modelAsked: ({ job }, at) => {
      this.#find(job)?.requests.push({ asked: at });
      this.#enter(job, 'model', at);
    },
    modelBegan: ({ job }, at) => {
      const request = this.#find(job)?.requests.at(-1);
      if (!request || request.firstToken !== undefined) return;
      request.firstToken = at;
      this.#enter(job, 'voice', at);
    },
    modelEnded: ({ job, cut }, at) => {
      const request = this.#find(job)?.requests.at(-1);
      if (request) Object.assign(request, { ended: at, cut });
    },
    played: (event, at) => this.#played(event, at),
    toolStarted: ({ job, callId, toolName }, at) =>
      void this.#find(job)?.tools.push({ callId, toolName, started: at, failed: false }),
    toolEnded: (event, at) => this.#toolEnded(event, at),
    used: ({ job, usage }) => this.#used(job, { ...NO_USAGE, ...usage }),
    refused: ({ code }) => (this.#refusal = code),
  };

  #heard({ span, text, final }: Of<'transcript'>, at: number): void {
    noteWords(this.#speech, span, text, at);
    if (text !== '') this.#speech.firstTranscript ??= at;
    if (!final) return;
    if (text !== '') this.#speech.lastTranscript = at;
    // The partial transcripts turned out to be nothing.
    else if (this.#speech.lastTranscript === undefined) this.#speech.firstTranscript = undefined;
  }

  /** Takes what was heard, for one message. */
  #takeSpeech(): UserSpeech {
    const { voiceAt, silentAt, silentMs, active } = this.#speech;
    const taken = this.#speech;
    this.#speech = {
      ...(voiceAt !== undefined && { voiceAt }),
      ...(silentAt !== undefined && { silentAt, silentMs }),
      ...(active !== undefined && { active }),
    };
    return taken;
  }

  #message({ text, typed, later, backchannel }: Of<'message'>, at: number): void {
    if (typed) {
      this.#begin('typed', at).words = text;
      return;
    }
    const speech = this.#takeSpeech();
    if (backchannel) return;
    const row = later ? (this.#later ??= this.#row('turn', at)) : this.#rowOfMessage(at);
    if (later) row.earlier = joined([row.earlier, text]);
    row.transcribed(later ? '' : text, speech, at);
    row.closed = later === true;
    row.turnId = this.turnId();
  }

  #rowOfMessage(at: number): TurnRow {
    const open = this.#current;
    if (open && !open.closed) {
      open.reopened += 1;
      open.withdraw();
      this.#drafts.discount(open);
      return open;
    }
    return this.#begin('turn', at, this.#takeLater());
  }

  #takeLater(): TurnRow | undefined {
    const later = this.#later;
    this.#later = undefined;
    return later;
  }

  /** Makes a new row, or `row`, the current one; ends the one before it. */
  #begin(cause: TurnCause, at: number, row = this.#row(cause, at)): TurnRow {
    if (this.#current) this.#over(this.#current, at);
    this.#current = row;
    row.turnId = this.turnId();
    return row;
  }

  #row(cause: TurnCause, at: number): TurnRow {
    const row = new TurnRow((this.last += 1), cause, at);
    this.#recent.push(row);
    if (this.#recent.length > RECENT) this.#recent.shift();
    this.#drafts.discount(row);
    return row;
  }

  /** The row that a reply answers. */
  #rowFor(cause: Cause, at: number): TurnRow {
    if (cause === 'continue') this.#mistaken();
    if (cause !== 'turn') return this.#begin(cause, at);
    const open = this.#current;
    // An answer that was withdrawn is asked for again.
    if (open && (!open.answer || open.ended !== undefined)) return open;
    return this.#begin('turn', at, this.#takeLater());
  }

  /** Marks the last interruption as mistaken: there were no words. */
  #mistaken(): void {
    const row = this.#recent.findLast(({ interrupted }) => interrupted !== null);
    if (!row?.interrupted) return;
    row.interrupted = { ...row.interrupted, mistaken: true };
    this.#changed(row);
  }

  /** A new job: discards drafts that nobody has asked for until now. */
  #answer(job: number, drafted: boolean): TurnAnswer {
    this.#paused = false;
    this.#drafts.discardAll();
    return new TurnAnswer(job, drafted);
  }

  #answers(row: TurnRow, answer: TurnAnswer): void {
    row.withdraw();
    row.answer = answer;
    row.turnId = this.turnId();
  }

  #sentence(cause: TurnCause, job: number, at: number): void {
    const answer = this.#answer(job, false);
    answer.timeline.enter('voice', at);
    this.#answers(this.#begin(cause, at), answer);
  }

  /** Puts an excuse in place of the failed answer, which may have been a draft. */
  #excuse(job: number, at: number): void {
    const failed = this.#drafts.takeFirst();
    const row = this.#current ?? this.#begin('turn', at);
    const answer = row.answer ?? failed ?? this.#answer(job, false);
    answer.job = job;
    answer.isExcuse = true;
    answer.timeline.enter('voice', at);
    row.answer = answer;
    row.error = this.#refusal;
  }

  #find(job: number): TurnAnswer | undefined {
    return this.#drafts.find(job) ?? this.#recent.findLast(({ answer }) => answer?.job === job)?.answer;
  }

  /** Work after the first audio costs no time. */
  #enter(job: number, activity: 'waiting' | 'model' | 'tools' | 'voice', at: number): void {
    const answer = this.#find(job);
    if (answer && answer.audible === undefined) answer.timeline.enter(activity, at);
  }

  #pause(at: number): void {
    const answer = this.#alive;
    this.#paused = true;
    if (!answer) return;
    if (answer.played === undefined) return answer.timeline.enter('waiting', at);
    answer.held += 1;
    answer.heldAfter = this.#sinceVoice(answer, at);
  }

  #resume(goesOn: boolean, at: number): void {
    const answer = this.#alive;
    const wasPaused = this.#paused;
    this.#paused = false;
    if (!answer || !wasPaused) return;
    if (answer.played === undefined) {
      if (answer.audible !== undefined) answer.timeline.enter('transport', at);
    } else if (goesOn) {
      answer.resumed += 1;
      answer.heldAfter = undefined;
    }
  }

  /** The answer that is being made or heard. */
  get #alive(): TurnAnswer | undefined {
    return this.#drafts.last ?? this.#current?.answer;
  }

  /** Time since the user's voice began, or since the playout did if that was later; 0 without voice. */
  #sinceVoice({ played = 0 }: TurnAnswer, at: number): number {
    return at - Math.max(played, Math.min(at, this.#speech.voiceAt ?? at));
  }

  #cancelled({ job, by }: Of<'cancel'>, at: number): void {
    if (this.#drafts.discard(job)) return;
    const row = this.#current;
    if (row?.answer?.job !== job) return;
    const isDirect = by === 'message' || by === 'client' || by === 'timeout';
    this.#interrupted(row, by === 'voice' ? 'words' : by, isDirect ? 0 : undefined, at);
    this.#jobOver(job, at);
  }

  /** `silenceMs`: given if nothing has to be known before the agent falls silent. */
  #interrupted(row: TurnRow, by: InterruptedBy, silenceMs: number | undefined, at: number): void {
    const { answer } = row;
    const isHeard = answer?.played !== undefined;
    const after = answer ? (silenceMs ?? answer.heldAfter ?? this.#sinceVoice(answer, at)) : null;
    row.interrupted = { by, silenceMs: isHeard ? after : null, mistaken: false };
  }

  /** Ends the row of that job; if its turn is still open, its next message or its closing decides. */
  #jobOver(job: number, at: number): void {
    const row = this.#current;
    if (row?.answer?.job !== job) return;
    if (row.closed) return this.#over(row, at);
    row.ended = at;
  }

  #end(reason: EndReason, at: number): void {
    const by = BY_END[reason];
    for (const row of [this.#current, this.#later])
      if (row && row.ended === undefined && by !== undefined) this.#interrupted(row, by, 0, at);
  }

  #over(row: TurnRow, at: number): void {
    if (this.#current === row) this.#current = undefined;
    if (this.#later === row) this.#later = undefined;
    if (row.over) return;
    row.over = true;
    row.ended ??= at;
    this.#tell(row, 'over');
  }

  #played({ job, ms, complete }: Of<'played'>, at: number): void {
    const row = this.#recent.findLast(({ answer }) => answer?.job === job);
    const answer = row?.answer;
    if (!row || !answer || ms < answer.heardMs) return;
    const begins = answer.played === undefined && ms > 0;
    if (begins) answer.played = Math.max(at - Math.round(ms), answer.audible ?? 0);
    answer.heardMs = Math.round(ms);
    answer.complete = complete;
    if (row.over) this.#changed(row);
    else if (begins) this.#tell(row, 'began');
  }

  #toolEnded({ callId, failed }: Of<'toolEnded'>, at: number): void {
    for (const row of this.#recent) {
      const tool = row.answer?.tools.find((each) => each.callId === callId);
      if (!tool) continue;
      tool.ended = at;
      tool.failed = failed;
      this.#changed(row);
    }
  }

  #used(job: number | undefined, usage: Usage): void {
    const row = this.#recent.findLast(({ answer }) => answer?.job === job);
    const answer = job === undefined ? undefined : this.#find(job);
    if (answer) answer.usage = addUsage(answer.usage, usage);
    else this.#drafts.use(usage);
    if (answer && row) this.#changed(row);
  }

  #changed(row: TurnRow): void {
    if (row.over) this.#tell(row, 'changed');
  }

  #tell(row: TurnRow, phase: TurnPhase): void {
    this.tell(row.toTurn(this.epoch), phase);
  }
}
