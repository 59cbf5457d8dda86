/**
 * Messages for answering machines that the language model writes from an instruction (`leave_prompt_message`). One is written as soon as
 * the call is answered, while a machine still greets, and kept in the call's row, since any process may be told of the machine.
 */
import type { Clock } from '../../../contracts/clock.js';
import { whyOf } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import type { ModelUser } from '../../../contracts/ports/agents/models.js';
import type { ChatModel, ChatRequest } from '../../../contracts/ports/chat.js';
import type { PlacedCall, PlacedCalls } from '../../../contracts/ports/phone/placed-calls.js';
import type { SessionPlan, SessionRuns } from '../../../contracts/ports/sessions/sessions.js';
import { LANGUAGE_NAMES } from '../../../contracts/speech/languages.js';
import { wholeSentences } from '../conversations/briefing.js';

export interface MessageParts {
  /** The model of the call's agent; undefined if there is no language model. */
  modelOf(
    plan: Pick<SessionPlan, 'config' | 'agentId'>,
    user: ModelUser,
  ): Pick<ChatModel, 'chat'> | undefined;
  /** What is spoken of a text that a model has written. */
  spoken(text: string): string;
  readonly runs: Pick<SessionRuns, 'unowned'>;
  readonly placed: Pick<PlacedCalls, 'find' | 'keepText'>;
  readonly clock: Clock;
  readonly log: Log;
}

const { messageMs, voicemail } = LIMITS.phone;
/** Interval between two looks at the row of a call whose message another process writes. */
const LOOK_MS = 250;

const isWritten = (call: PlacedCall): boolean => call.voicemail?.action === 'leave_prompt_message';

function requestOf(call: PlacedCall, { config }: SessionPlan): ChatRequest {
  const language = LANGUAGE_NAMES[config.voice.speaking_language];
  const task =
    'You have called somebody, and an answering machine has picked up. Write the message that is left on it, as it is to be spoken: ' +
    `a few short sentences in ${language}, and nothing else. What it is to say:`;
  const { sessionId, agentId, workspaceId } = call;
  return {
    messages: [
      { role: 'system', content: config.prompt.system_prompt },
      { role: 'user', content: `${task}\n${call.voicemail?.message ?? ''}` },
    ],
    tools: [],
    passages: [],
    ...(sessionId !== null && { whom: { sessionId, agentId, workspaceId } }),
  };
}

export class Messages {
  readonly #writing = new Map<string, Promise<void>>();

  constructor(private readonly parts: MessageParts) {}

  /** The call is answered: begins to write. Its session is still to be joined, since its plan is read here. Never rejects. */
  async begin(call: PlacedCall): Promise<void> {
    const { runs, log } = this.parts;
    const { sessionId, agentId } = call;
    if (!isWritten(call) || sessionId === null) return;
    try {
      const session = await runs.unowned(sessionId);
      if (!session) return;
      const { endUserId } = session.record;
      const chat = this.parts.modelOf(session.plan, { agentId, sessionId, endUserId });
      if (!chat) return await this.#nobodyWrites(call);
      const writing = this.#write(call, session.plan, chat)
        .catch(async (error: unknown) => {
          log.warn({ ...whyOf(error), call: call.id }, 'no message was written');
          await this.#nobodyWrites(call).catch(() => undefined);
        })
        .finally(() => this.#writing.delete(call.id));
      this.#writing.set(call.id, writing);
    } catch (error) {
      log.warn({ ...whyOf(error), call: call.id }, 'no message was written');
    }
  }

  /** The call with the message that is to be said; undefined if there is none. */
  async of(call: PlacedCall): Promise<PlacedCall | undefined> {
    if (!isWritten(call)) return call;
    await this.#writing.get(call.id);
    const { placed, clock } = this.parts;
    for (const until = clock.monotonic() + messageMs; ;) {
      const current = await placed.find(call.id);
      const text = current?.voicemail?.text;
      if (text !== undefined) return text === '' ? undefined : current;
      // In another process it takes no longer than this.
      if (!current || current.endedAt || clock.monotonic() > until) return undefined;
      await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
    }
  }

  /** Nobody waits for a message then, in any process. */
  #nobodyWrites({ id }: PlacedCall): Promise<void> {
    return this.parts.placed.keepText(id, '');
  }

  /** Resolves once nothing is being written. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  async #write(call: PlacedCall, plan: SessionPlan, chat: Pick<ChatModel, 'chat'>): Promise<void> {
    const { placed, clock, spoken } = this.parts;
    const late = new AbortController();
    const stop = clock.after(messageMs, () => late.abort(new Error('the language model took too long')));
    let text = '';
    try {
      for await (const event of chat.chat(requestOf(call, plan), late.signal)) {
        if (event.kind === 'text') text += event.text;
        if (text.length > voicemail.max) break;
      }
    } finally {
      stop();
    }
    const message = wholeSentences(spoken(text).replace(/\s+/g, ' ').trim(), voicemail.max);
    if (message === '') throw new Error('the language model wrote nothing');
    await placed.keepText(call.id, message);
  }
}
