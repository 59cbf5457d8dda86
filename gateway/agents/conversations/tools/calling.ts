/**
 * Runs the calls of an agent's tools (docs/contract/platform.md 6.5, 6.9): whatever their kind and source, every call starts once
 * and ends once, is recorded, and is reported to the model and to the client within the same bounds.
 *
 * Invariants: a call with an effect is cut off by its own timeout and by the end of the conversation only; the same call meanwhile
 * joins it; its result reaches the model with the answer that waits for it, or as news if none does.
 */
import { isCutByUser } from '../../../../actors/agent/effects.js';
import type { Clock } from '../../../../contracts/clock.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { ONLINE_TIMES } from '../../../../contracts/limits/online-times.js';
import type { Log } from '../../../../contracts/log.js';
import type { ToolCall } from '../../../../contracts/ports/chat.js';
import type { RunningSession, SessionRecord } from '../../../../contracts/ports/sessions/sessions.js';
import { cutResult } from '../../../../contracts/tools/cut.js';
import { firstUnits, wellFormed } from '../../../../contracts/text/text.js';
import { TOOL_RUNS, TOOL_SENT, toolNews } from '../../../../contracts/tools/news.js';
import { AGENT_EVENTS, type ToolNote } from '../client/events.js';
import type { Dialogue } from '../dialogue.js';
import type { NoteTurn } from '../turns/turn-events.js';
import { remark } from '../remarks.js';
import { failedCall, HIDDEN, kindOf } from './failures.js';
import { Intents, type Undertaking } from './intents.js';
import type { ToolPermission } from './permission.js';
import { type ConversationTool, failure, TOLD, type ToolResult, type ToolUse } from './tool.js';

const OUTPUT_BYTES = LIMITS.session.toolOutputBytes;
const BUSY = 'Too many tools run already';
/** The reason of a call that was cut off by the user, or by the end of the conversation: nothing has failed. */
const CUT_OFF = 'cut off';
/** Most characters of its arguments that a model is told again when a tool answers later. */
const TOLD_ARGUMENTS = 200;

export interface CallingParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly dialogue: Dialogue;
  readonly note: NoteTurn;
  readonly permission: ToolPermission;
  readonly session: Pick<RunningSession, 'said'> & { readonly record: Partial<Pick<SessionRecord, 'id'>> };
  /** Number of the running job. */
  job(): number;
  send(event: object): void;
  /** Called when a tool for which no answer waits has answered. */
  news(): void;
  /** Called as the first of those begins whose results the agent has yet to tell, and as the last of them has ended. */
  runsBeside(runs: boolean): void;
}

/** A call, the tool that it names, if there is one, and what the record knows it as. */
interface Calling {
  readonly call: ToolCall;
  readonly tool: ConversationTool;
  readonly note: ToolNote;
}

/** What the model is told at once of a call whose result no answer waits for. */
const onItsWay = ({ isForgotten = false }: ConversationTool): string => (isForgotten ? TOOL_SENT : TOOL_RUNS);

const hasEffect = ({ act }: ConversationTool): boolean => !isCutByUser(act);

export class ToolCalls {
  readonly #intents: Intents;
  readonly #running = new Set<Promise<unknown>>();
  /** Running calls for whose result no answer waits, and those of them whose result the agent will tell. */
  #beside = 0;
  #owed = 0;
  readonly #over = new AbortController();

  constructor(
    private readonly parts: CallingParts,
    /** Whether the client is told of tools. */
    private readonly isTold: boolean,
  ) {
    const { record, said } = parts.session;
    this.#intents = new Intents(record.id ?? '', said);
  }

  /** Aborted when the conversation has ended. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Runs all calls of a step in parallel. Resolves when each has ended, or runs on by itself; true if somebody else takes over. */
  async run(step: readonly (readonly [ConversationTool | undefined, ToolCall])[], signal: AbortSignal) {
    const returned = this.parts.permission.acted();
    const handedOver = await Promise.all(step.map(([tool, call]) => this.#call(tool, call, signal)));
    returned();
    return handedOver.includes(true);
  }

  /** The conversation has ended: cuts off what still runs. Resolves when every call has ended. */
  async settled(): Promise<void> {
    this.#over.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Resolves when the tool has ended, or runs on by itself. True if somebody else takes over. */
  async #call(known: ConversationTool | undefined, call: ToolCall, signal: AbortSignal): Promise<boolean> {
    const { name } = call;
    const run = (): Promise<ToolResult> => Promise.resolve(failure(`There is no tool ${name}`));
    const unknown = { name, description: '', parameters: {}, source: 'builtin', act: 'read', run } as const;
    const toolSource = known?.source ?? 'unknown';
    const note: ToolNote = { callId: this.parts.dialogue.nextCallId(), toolName: name, toolSource };
    this.parts.dialogue.called(note.callId, name, toolSource, call.arguments);
    this.parts.note({ type: 'toolStarted', job: this.parts.job(), ...note });
    this.#tell(AGENT_EVENTS.toolStarted(note, call.arguments));
    const calling = { call, note, tool: known ?? unknown };
    const isBeside = known?.besideSpeech ?? false;
    const same = hasEffect(calling.tool) ? this.#intents.running(call) : undefined;
    if ((isBeside || hasEffect(calling.tool)) && !same && this.#isFull) return this.#refuse(calling);
    if (hasEffect(calling.tool)) return this.#undertake(calling, same, isBeside ? undefined : signal);
    if (isBeside) return this.#readBeside(calling);
    return this.#told(calling, this.#read(calling, signal));
  }

  get #isFull(): boolean {
    return this.#beside >= LIMITS.session.callsBesideSpeech;
  }

  /** A call begins for whose result no answer waits, or ends. */
  #runBeside({ isForgotten = false }: ConversationTool, change: 1 | -1): void {
    this.#beside += change;
    if (isForgotten) return;
    const before = this.#owed;
    this.#owed += change;
    if (before === 0 || this.#owed === 0) this.parts.runsBeside(this.#owed > 0);
  }

  #refuse(calling: Calling): Promise<boolean> {
    return this.#told(calling, Promise.resolve(failure(BUSY)));
  }

  /** Tells the model the result as the answer to its call. */
  async #told(calling: Calling, result: Promise<ToolResult>): Promise<boolean> {
    const ended = this.#finished(calling, result);
    this.#track(ended);
    const { told, handsOver } = await ended;
    this.parts.dialogue.told(told, calling.call.id);
    return handsOver;
  }

  #track(running: Promise<unknown>): void {
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  /** Runs a tool that may be cut off; never rejects. */
  #read({ call, tool, note: { callId } }: Calling, signal: AbortSignal): Promise<ToolResult> {
    const begin = (): Promise<boolean> => Promise.resolve(!signal.aborted);
    return this.#run(tool, call, { callId, signal, begin });
  }

  #readBeside(calling: Calling): boolean {
    this.parts.dialogue.told(onItsWay(calling.tool), calling.call.id);
    this.#runBeside(calling.tool, 1);
    const ended = this.#finished(calling, this.#read(calling, this.over)).then(({ told }) => {
      this.#runBeside(calling.tool, -1);
      this.#toldLater(calling, told);
    });
    this.#track(ended);
    return false;
  }

  /**
   * Starts a call with an effect, or joins the `same` one that runs. `signal`: that of the answer that waits for its result;
   * undefined if none does. Resolves once it has ended or the answer was cancelled.
   */
  #undertake(
    calling: Calling,
    same: Undertaking | undefined,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const begun = { yet: !calling.tool.beginsLater };
    const undertaking = same ?? this.#begin(calling, begun, signal);
    const { call, tool } = calling;
    return new Promise((resolve) => {
      const waits = { still: signal !== undefined };
      /** Nobody waits any more: the call goes on, and its result comes as news. */
      const letGo = (): void => {
        if (!waits.still || !begun.yet) return;
        waits.still = false;
        undertaking.waiting -= 1;
        if (!same) this.#runBeside(tool, 1);
        this.parts.dialogue.told(TOOL_RUNS, call.id);
        resolve(false);
      };
      if (waits.still) undertaking.waiting += 1;
      else this.parts.dialogue.told(onItsWay(calling.tool), call.id);
      if (!waits.still && !same) this.#runBeside(tool, 1);
      signal?.addEventListener('abort', letGo);
      const ended = this.#finished(calling, undertaking.result).then(({ told, handsOver }) => {
        signal?.removeEventListener('abort', letGo);
        if (!waits.still && !same) this.#runBeside(tool, -1);
        if (waits.still) this.parts.dialogue.told(told, call.id);
        else if (!same && undertaking.waiting === 0) this.#toldLater(calling, told);
        resolve(waits.still && handsOver);
      });
      this.#track(ended);
      if (!waits.still) resolve(false);
    });
  }

  #begin({ call, tool, note }: Calling, begun: { yet: boolean }, signal = this.over): Undertaking {
    const begin = async (): Promise<boolean> => {
      begun.yet = await this.parts.permission.ask([tool.act], signal);
      return begun.yet;
    };
    const use = { callId: note.callId, signal: this.over, begin };
    return this.#intents.begin(call, (key) => this.#run(tool, call, { ...use, key }));
  }

  /** Tells the model the result when it is asked next, which is soon. */
  #toldLater({ call, tool }: Calling, told: string): void {
    if (this.over.aborted || tool.isForgotten) return;
    this.parts.dialogue.news(toolNews(call.name, firstUnits(call.arguments, TOLD_ARGUMENTS), told));
    this.parts.news();
  }

  /** Never rejects. */
  async #run(tool: ConversationTool, call: ToolCall, use: ToolUse): Promise<ToolResult> {
    try {
      return await tool.run(call.arguments, use);
    } catch (error) {
      const reason = use.signal.aborted ? CUT_OFF : kindOf(error);
      return { ...failedCall(tool, error, use.signal), reason };
    }
  }

  /** Reports the end of a call to the record and to the client. Resolves to the text for the model. */
  async #finished({ tool, note }: Calling, running: Promise<ToolResult>) {
    const since = this.parts.clock.monotonic();
    const result = await running;
    const ms = this.parts.clock.monotonic() - since;
    this.#remark(tool, note, result, ms);
    return { told: this.#finish(tool, note, result, ms), handsOver: result.handsOver ?? false };
  }

  /** Failures, answers that are too long, and waits are in the log; not what was cut off, and what the client does itself. */
  #remark(
    { source, besideSpeech = false }: ConversationTool,
    note: ToolNote,
    result: ToolResult,
    ms: number,
  ): void {
    if ((source !== 'mcp' && source !== 'webhook') || result.reason === CUT_OFF) return;
    const part = source === 'mcp' ? 'mcp' : 'tool';
    const fields = { tool: note.toolName, callId: note.callId, ms: Math.round(ms) };
    if (!result.ok)
      remark(this.parts.log, `${part}Failed`, { ...fields, reason: result.reason ?? 'refused' });
    else if (result.truncated || result.output.length > OUTPUT_BYTES)
      remark(this.parts.log, `${part}Cut`, fields);
    else if (!besideSpeech && ms > ONLINE_TIMES.tool.slowMs) remark(this.parts.log, `${part}Slow`, fields);
  }

  #finish({ hidesErrors = false }: ConversationTool, note: ToolNote, result: ToolResult, ms: number): string {
    const { ok, truncated = false, undecided = false } = result;
    const output = wellFormed(result.output);
    const cut = cutResult(output, OUTPUT_BYTES, truncated);
    const shown = !ok && hidesErrors && !undecided ? HIDDEN : cut;
    const told = cutResult(shown, TOLD);
    this.parts.dialogue.outcome({
      ...note,
      status: ok ? 'completed' : 'failed',
      output: ok ? cut : '',
      outputTruncated: cut !== output,
      ...(told !== shown && { toldTruncated: true }),
      error: ok ? null : cut,
      latencyMs: Math.round(ms),
    });
    this.parts.note({ type: 'toolEnded', callId: note.callId, failed: !ok });
    this.#tell(ok ? AGENT_EVENTS.toolCompleted(note, cut) : AGENT_EVENTS.toolFailed(note, shown));
    return ok ? told : JSON.stringify({ error: told });
  }

  #tell(event: object): void {
    if (this.isTold) this.parts.send(event);
  }
}
