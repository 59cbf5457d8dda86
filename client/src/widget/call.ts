/** One call of the widget: a session, and what of its events changes what is shown. */
import type { EndReason } from '../events.js';
import { AgentSession, type SessionOptions } from '../session.js';
import { dropNotice, errorNotice } from './notices.js';
import type { Look, State } from './state.js';
import { filled } from './texts.js';
import type { Transcript } from './transcript.js';

export interface CallWatcher {
  change(change: Partial<State>): void;
  /** Once. `reason`: unless the call did not come about, and that was told, or wanted. */
  over(reason: EndReason | undefined): void;
  /** For the page. */
  tell(name: 'error' | 'message', detail: unknown): void;
}

/** How often the agent is told that the user types. */
const ACTIVITY_MS = 5000;

export class Call {
  readonly session: AgentSession;
  /** Whether the user knows why there is no call. */
  #isTold = false;
  #told = 0;

  constructor(
    options: SessionOptions,
    private readonly transcript: Transcript,
    private readonly look: Look,
    private readonly watcher: CallWatcher,
  ) {
    this.session = new AgentSession(options);
    this.#listenToState();
    this.#listenToWords();
  }

  #listenToState(): void {
    const { session, watcher } = this;
    const { texts } = this.look;
    session.on('statusChange', ({ status }) => {
      if (status === 'connected') watcher.change({ stage: 'talking', reconnecting: false });
      if (status === 'reconnecting') watcher.change({ reconnecting: true });
    });
    session.on('modeChange', ({ mode }) => watcher.change({ mode }));
    session.on('disconnect', ({ reason }) => this.#end(reason));
    session.on('messageDropped', ({ reason }) => watcher.change({ notice: dropNotice(reason, texts) }));
    session.on('error', (error) => {
      this.#isTold = true;
      // For whoever makes the page.
      console.warn(`speech-agent: ${error.code}: ${error.message}`);
      watcher.tell('error', error);
      const notice = errorNotice(error, texts);
      watcher.change({ muted: session.muted, ...(notice !== undefined && { notice }) });
    });
  }

  #listenToWords(): void {
    const { session, transcript, watcher } = this;
    const { texts, name: agent } = this.look;
    const names = { user: texts.user, agent };
    session.on('userTranscript', ({ text }) => transcript.speak(text));
    session.on('agentResponseDelta', ({ text }) => transcript.speak(text));
    session.on('message', ({ role, text }) => {
      transcript.speak('');
      transcript.add(text, names[role], role);
      watcher.tell('message', { role, text });
    });
    session.on('agentChange', ({ agentName: name }) => transcript.add(filled(texts.handover, { name })));
  }

  /** Resolves when the call has begun, or has not come about. */
  async start(): Promise<void> {
    await this.session.start().catch(() => this.#end(this.#isTold ? undefined : 'agent_hangup'));
  }

  #end(reason: EndReason | undefined): void {
    this.transcript.speak('');
    this.watcher.over(reason);
  }

  async mute(): Promise<void> {
    const { session } = this;
    // `error` has told what is wrong.
    await session.setMuted(!session.muted).catch(() => undefined);
    this.watcher.change({ muted: session.muted, ...(!session.muted && { notice: '' }) });
  }

  /** Whether it was sent. */
  async say(text: string): Promise<boolean> {
    try {
      await this.session.sendText(text);
    } catch {
      this.watcher.change({ notice: this.look.texts.unsent });
      return false;
    }
    this.watcher.change({ notice: '' });
    return true;
  }

  typing(): void {
    if (Date.now() - this.#told < ACTIVITY_MS) return;
    this.#told = Date.now();
    this.session.activity();
  }

  end(): Promise<void> {
    this.#isTold = true;
    return this.session.end();
  }
}
