/**
 * `<speech-agent>`: a button with which visitors of a page talk to an agent, by voice or in writing (docs/widget.md).
 * Before they want to, nothing but what the agent's owner has set for it is asked for.
 */
import type { EndReason } from '../events.js';
import { askForSession } from '../place.js';
import type { AgentSession, SessionOptions } from '../session.js';
import type { ClientTools } from '../tools.js';
import type { Action } from './buttons.js';
import { Call } from './call.js';
import { ENDS } from './notices.js';
import { readSettings, type Settings, settingsAddress } from './settings.js';
import { FIRST, type Look, type State } from './state.js';
import { styleSheet } from './style.js';
import { TEXTS, type Texts } from './texts.js';
import { View } from './view.js';

/** Where pages are made on a server, there are no elements, and importing this does nothing. */
const Base = globalThis.HTMLElement ?? (class {} as unknown as typeof HTMLElement);

/** The attributes that change what is shown, and those that say where its settings are. */
const SHOWN = [
  ...['agent-name', 'consent-text', 'greeting', 'mic-muting', 'position', 'proactive-message', 'text-input'],
  'transcript',
];
const PLACE = ['agent-id', 'base-url', 'settings', 'token-url'];

const isOn = (value: string | null): boolean => value !== 'off' && value !== 'false';

/** The address of the gateway that the script is from. */
let gateway: string | undefined;

export function useGatewayOf(script: string): void {
  gateway = new URL('.', script).href;
}

/** A field that the page has set before this script was there. */
function early<Value>(element: HTMLElement, name: string, otherwise: Value): Value {
  const set = Object.getOwnPropertyDescriptor(element, name)?.value as Value | undefined;
  Reflect.deleteProperty(element, name);
  return set ?? otherwise;
}

export class SpeechAgentElement extends Base {
  static readonly observedAttributes = [...SHOWN, ...PLACE];

  /** Functions of the page that the agent may call. */
  tools: ClientTools = early(this, 'tools', {});
  /** More fields of the request for a session, such as `dynamic_variables`. */
  request: Readonly<Record<string, unknown>> = early(this, 'request', {});

  #view: View | undefined;
  #state: State = FIRST;
  #call: Call | undefined;
  #hasAgreed = false;
  /** What the agent's owner has set, where that was read from, and when it is there. */
  #settings: Settings = {};
  #readFrom: string | undefined;
  #known: Promise<void> | undefined;
  #texts: Partial<Texts> = early(this, 'texts', {});

  /** Words of the widget in place of its own. */
  get texts(): Partial<Texts> {
    return this.#texts;
  }

  set texts(texts: Partial<Texts>) {
    this.#texts = texts;
    this.#show();
  }

  /** The session of the call, for everything that the widget does not do. */
  get session(): AgentSession | undefined {
    return this.#call?.session;
  }

  connectedCallback(): void {
    this.#view ??= this.#build();
    this.#readSettings();
    this.#show();
  }

  disconnectedCallback(): void {
    void this.end();
  }

  attributeChangedCallback(): void {
    if (this.#view) this.#readSettings();
    this.#show();
  }

  /** Shows the panel, and gives it the keyboard's place. */
  open(): void {
    this.#change({ open: true, dismissed: true });
    this.#view?.focus(this.#state, this.#look);
  }

  /** Hides the panel; a call goes on. */
  close(): void {
    this.#change({ open: false });
    this.#view?.focusLauncher();
  }

  /** Resolves when the call has ended. */
  async end(): Promise<void> {
    await this.#call?.end();
  }

  #build(): View {
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [styleSheet()];
    return new View(root, {
      open: () => this.open(),
      close: () => this.close(),
      act: (action) => this.#actions[action](),
      say: (text) => void this.#say(text),
      typing: () => this.#call?.typing(),
      dismiss: () => {
        this.#change({ dismissed: true });
        this.#view?.focusLauncher();
      },
    });
  }

  readonly #actions: Readonly<Record<Action, () => void>> = {
    start: () => void this.#begin(false),
    type: () => void this.#begin(true),
    agree: () => {
      this.#hasAgreed = true;
      void this.#start();
    },
    decline: () => this.#change({ stage: 'idle' }),
    cancel: () => (this.#call ? void this.end() : this.#change({ stage: 'idle' })),
    mute: () => void this.#call?.mute(),
    end: () => void this.end(),
  };

  get #look(): Look {
    const set = this.#settings;
    const texts = { ...TEXTS, ...set.text_contents, ...this.texts };
    const wanted = set.consent_required === true ? set.consent_text || texts.consent : '';
    const consent = (this.getAttribute('consent-text') ?? wanted).trim();
    return {
      texts,
      name: this.getAttribute('agent-name') ?? set.agent_name ?? texts.agent,
      greeting: this.getAttribute('greeting') ?? set.greeting ?? '',
      proactive: this.getAttribute('proactive-message') ?? set.proactive_message ?? '',
      consent,
      asksConsent: consent !== '' || this.querySelector(':scope > [slot=consent]') !== null,
      inline: this.getAttribute('position') === 'inline',
      hasTranscript: this.#has('transcript', set.transcript_enabled),
      hasTyping: this.#has('text-input', set.text_input_enabled),
      hasMuting: this.#has('mic-muting', set.mic_muting_enabled),
    };
  }

  /** By the attribute, else by what is `set`; without either: yes. */
  #has(attribute: string, set = true): boolean {
    return this.hasAttribute(attribute) ? isOn(this.getAttribute(attribute)) : set;
  }

  get #baseUrl(): string {
    return this.getAttribute('base-url') ?? gateway ?? location.origin;
  }

  /** Reads the settings of a public agent, once for each. */
  #readSettings(): void {
    const agentId = this.getAttribute('agent-id');
    const isPublic = agentId !== null && !this.hasAttribute('token-url');
    const reads = isPublic && isOn(this.getAttribute('settings'));
    const address = reads ? settingsAddress(this.#baseUrl, agentId) : undefined;
    if (address === this.#readFrom) return;
    this.#readFrom = address;
    this.#settings = {};
    this.#known = address === undefined ? undefined : this.#read(address);
  }

  async #read(address: string): Promise<void> {
    const settings = await readSettings(address);
    if (this.#readFrom !== address) return;
    this.#settings = settings;
    this.#known = undefined;
    this.#show();
  }

  #change(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
    this.#show();
  }

  #show(): void {
    this.#view?.show(this.#state, this.#look);
  }

  /** Asks for consent first, once; whether it must is known when the settings are there. */
  async #begin(writing: boolean): Promise<void> {
    this.#change({ writing, notice: '' });
    if (this.#known) {
      this.#change({ stage: 'connecting' });
      await this.#known;
      if (this.#state.stage !== 'connecting') return;
    }
    if (this.#look.asksConsent && !this.#hasAgreed) this.#change({ stage: 'consent' });
    else void this.#start();
  }

  async #start(): Promise<void> {
    const transcript = this.#view?.transcript;
    if (transcript === undefined || this.#call) return;
    const { writing } = this.#state;
    transcript.empty();
    const call = new Call(this.#options(writing), transcript, this.#look, {
      change: (change) => this.#change(change),
      over: (reason) => this.#over(reason),
      tell: (name, detail) => this.#tell(name, detail),
    });
    this.#call = call;
    this.#change({ stage: 'connecting', muted: writing, reconnecting: false, mode: 'listening', notice: '' });
    await call.start();
    if (this.#state.stage === 'talking') this.#tell('start', { sessionId: call.session.sessionId });
  }

  #options(writing: boolean): SessionOptions {
    const { tools } = this;
    const agentId = this.getAttribute('agent-id');
    const tokenUrl = this.getAttribute('token-url');
    const microphone = !writing;
    if (tokenUrl !== null) {
      const request = { ...this.request, ...(agentId !== null && { agent_id: agentId }) };
      const address = new URL(tokenUrl, document.baseURI).href;
      return { tools, microphone, session: (signal) => askForSession({ address, request }, signal) };
    }
    const agent = { agentId: agentId ?? '', baseUrl: this.#baseUrl, request: this.request };
    return { tools, microphone, agent };
  }

  #over(reason: EndReason | undefined): void {
    this.#call = undefined;
    const notice = reason === undefined ? this.#state.notice : this.#look.texts[ENDS[reason]];
    this.#change({ stage: 'idle', again: true, muted: false, reconnecting: false, notice });
    if (reason !== undefined) this.#tell('end', { reason });
  }

  async #say(text: string): Promise<void> {
    if (await this.#call?.say(text)) this.#view?.emptyInput();
  }

  /** An event `agent-start`, `agent-end`, `agent-message` or `agent-error`. */
  #tell(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(`agent-${name}`, { detail, bubbles: true, composed: true }));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'speech-agent': SpeechAgentElement;
  }
}

/** Makes the element known to the page. Idempotent. */
export function define(): void {
  if (globalThis.customElements?.get('speech-agent') === undefined)
    globalThis.customElements?.define('speech-agent', SpeechAgentElement);
}
