/**
 * The settings of a session, as `session.update` changes them: one after the other, from whichever connection. What belongs to the
 * agent's owner is kept, and named in the log.
 */
import type { Log } from '../../../contracts/log.js';
import type { AgentChanges } from '../../../contracts/ports/calls/agent-changes.js';
import type { SocketCall } from '../../../contracts/ports/calls/socket-calls.js';
import type { SocketSession } from '../../../contracts/ports/sessions/socket-sessions.js';
import { IgnoredOnce } from '../../server/ignored-fields.js';
import { Fault } from '../protocol-a/realtime/faults.js';
import { type AgentSettings, changed, ownersOptions, sessionFields, turnsOf, wantedOf } from './settings.js';

export class Updates {
  #last: Promise<unknown> = Promise.resolve();
  readonly #ignored = new IgnoredOnce();

  constructor(
    public settings: AgentSettings,
    private readonly session: Pick<SocketSession, 'id' | 'agentId' | 'config' | 'settle'>,
    /** The call, once it has begun. */
    private readonly call: () => SocketCall | undefined,
    private readonly log: Log,
    /** Whether it goes on from elsewhere: what is fixed once a call has begun is fixed already. */
    private readonly goesOn: boolean,
  ) {}

  /** Takes what a client may set, and keeps what it may not. Errors: `Fault`, `unsupported_option`, `overloaded`. */
  take(value: unknown): Promise<void> {
    const taken = this.#last.then(() => this.#set(value));
    this.#last = taken.catch(() => undefined);
    return taken;
  }

  async #set(value: unknown): Promise<void> {
    const fields = sessionFields(value);
    const [before, wanted] = [this.settings, wantedOf(fields)];
    const next = changed(before, fields);
    if (this.call() && (next.input !== before.input || next.output !== before.output))
      throw new Fault(
        'unsupported_audio_format',
        'The audio formats are set before the call begins',
        'session.audio',
      );
    const { overrides, kept } = await this.#settled(wanted, before);
    this.settings = { ...next, overrides };
    this.note([...kept, ...ownersOptions(fields)]);
    const call = this.call();
    if (call) this.amend(call, before);
  }

  /** Once the call has begun, only the instructions can still change. */
  async #settled(wanted: AgentSettings['overrides'], { overrides: present }: AgentSettings) {
    const { system_prompt: prompt, ...fixed } = wanted;
    if (!this.call() && !this.goesOn) return this.session.settle({ ...present, ...wanted });
    const asked = { ...present, ...(prompt !== undefined && { system_prompt: prompt }) };
    const settled = await this.session.settle(asked);
    const late = (['voice_id', 'language'] as const).filter(
      (name) => fixed[name] !== undefined && fixed[name] !== present[name],
    );
    return { ...settled, kept: [...settled.kept, ...late] };
  }

  /** Says in the log what the client asked for and does not get, each once: names only. */
  note(names: readonly string[]): void {
    const kept = this.#ignored.fresh(names);
    if (kept.length === 0) return;
    const { id: sessionId, agentId } = this.session;
    this.log.info({ sessionId, agentId, kept }, 'a realtime client asked for what its agent does not allow');
  }

  /** Takes to a call that goes on what has changed before it did. */
  amend(call: SocketCall, before: AgentSettings): void {
    const { tools, turns, overrides } = this.settings;
    const { system_prompt: instructions } = overrides;
    const { conversation } = this.session.config;
    const [was, is] = [turnsOf(before, conversation), turnsOf(this.settings, conversation)];
    const changes: AgentChanges = {
      ...(tools !== before.tools && { tools }),
      ...(instructions !== undefined && instructions !== before.overrides.system_prompt && { instructions }),
      ...((is.eagerness !== was.eagerness || is.interruptible !== was.interruptible) && is),
    };
    if (Object.keys(changes).length > 0) call.wish({ kind: 'amended', changes });
    call.manual(turns === null);
  }
}
