/**
 * The widget's elements, in a shadow root. They are made once and shown or hidden; the keyboard's place never gets lost:
 * where what held it goes, the next thing to do gets it.
 */
import { type Action, ACTIONS, BUTTONS } from './buttons.js';
import { element, write } from './dom.js';
import { type Look, modeOf, type Stage, type State, statusOf } from './state.js';
import { Transcript } from './transcript.js';

export interface Handlers {
  open(): void;
  close(): void;
  act(action: Action): void;
  say(text: string): void;
  /** The user is typing. */
  typing(): void;
  /** The user does not want what stands beside the button. */
  dismiss(): void;
}

/** As long as a message may be (docs/contract/limits.md). */
const MOST_TYPED = '10000';

const button = (kind: string, click: () => void): HTMLButtonElement => {
  const made = element('button', { type: 'button', class: kind, part: `button ${kind}` });
  made.addEventListener('click', click);
  return made;
};

export class View {
  readonly transcript = new Transcript();
  readonly #launcher: HTMLButtonElement;
  readonly #close: HTMLButtonElement;
  readonly #buttons: ReadonlyMap<Action, HTMLButtonElement>;
  readonly #proactive: HTMLButtonElement;
  readonly #dismiss: HTMLButtonElement;
  readonly #beside: HTMLElement;
  readonly #greeting = element('p', { class: 'greeting', part: 'greeting', dir: 'auto' });
  readonly #heading = element('h2', { id: 'heading' });
  readonly #status = element('p', { class: 'status', role: 'status' });
  readonly #mode = element('p', { class: 'mode' });
  readonly #notice = element('p', { class: 'notice', role: 'alert' });
  readonly #consentText = element('slot', { name: 'consent' });
  readonly #consent = element('div', { class: 'consent', tabindex: '-1' }, this.#consentText);
  readonly #label = element('label', { for: 'message' });
  readonly #input = element('input', { id: 'message', autocomplete: 'off', maxlength: MOST_TYPED });
  readonly #send = element('button', { class: 'other', part: 'button other' });
  readonly #form = element('form', {}, this.#label, this.#input, this.#send);
  readonly #panel: HTMLElement;
  readonly #frame: HTMLElement;
  #stage: Stage | undefined;

  constructor(
    private readonly root: ShadowRoot,
    private readonly handlers: Handlers,
  ) {
    this.#launcher = button('launcher', handlers.open);
    this.#launcher.setAttribute('aria-haspopup', 'dialog');
    this.#close = button('close', handlers.close);
    this.#proactive = button('proactive', handlers.open);
    this.#dismiss = button('close', handlers.dismiss);
    this.#beside = element('div', { class: 'beside', part: 'proactive' }, this.#proactive, this.#dismiss);
    this.#buttons = new Map(
      ACTIONS.map((action) => [action, button(BUTTONS[action].kind, () => handlers.act(action))]),
    );
    this.#panel = element(
      'div',
      { class: 'panel', part: 'panel', 'aria-labelledby': 'heading' },
      element('div', { class: 'head' }, this.#heading, this.#close),
      ...[this.#greeting, this.#status, this.#mode, this.transcript.log, this.transcript.current],
      ...[this.#notice, this.#consent],
      element('div', { class: 'buttons' }, ...this.#buttons.values()),
      this.#form,
    );
    this.#frame = element('section', { class: 'frame' }, this.#beside, this.#launcher, this.#panel);
    root.append(this.#frame);
    this.#listen();
  }

  #listen(): void {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      const text = this.#input.value.trim();
      if (text !== '') this.handlers.say(text);
    });
    this.#input.addEventListener('input', () => this.handlers.typing());
    this.#panel.addEventListener('keydown', ({ key, isComposing }) => {
      if (key === 'Escape' && !isComposing && !this.#close.hidden) this.handlers.close();
    });
  }

  /** After a message was sent. */
  emptyInput(): void {
    this.#input.value = '';
  }

  show(state: State, look: Look): void {
    const isHeld = this.root.activeElement !== null;
    this.#frame.setAttribute('aria-label', look.name);
    this.#showPanel(state, look);
    this.#showBeside(state, look);
    this.#showWords(state, look);
    for (const [action, shown] of this.#buttons) {
      const row = BUTTONS[action];
      shown.hidden = row.stage !== state.stage || row.shown?.(look) === false;
      write(shown, look.texts[row.label(state)]);
    }
    if (isHeld && this.#stage !== state.stage) this.focus(state, look);
    this.#stage = state.stage;
  }

  #showPanel({ open, stage }: State, { inline, texts }: Look): void {
    this.#frame.classList.toggle('inline', inline);
    this.#launcher.hidden = inline || open;
    this.#panel.hidden = !(inline || open);
    this.#close.hidden = inline;
    this.#panel.setAttribute('role', inline ? 'group' : 'dialog');
    write(this.#launcher, stage === 'talking' ? texts.running : texts.launcher);
    write(this.#close, '×');
    this.#close.setAttribute('aria-label', texts.close);
  }

  #showBeside({ open, dismissed }: State, { inline, proactive, texts }: Look): void {
    this.#beside.hidden = inline || open || dismissed || proactive.trim() === '';
    write(this.#proactive, proactive);
    write(this.#dismiss, '×');
    this.#dismiss.setAttribute('aria-label', texts.dismiss);
  }

  #showWords(state: State, look: Look): void {
    const { texts } = look;
    const { stage, mode, reconnecting, muted, again } = state;
    write(this.#heading, look.name);
    write(this.#greeting, look.greeting);
    this.#greeting.hidden = stage !== 'idle' || again || look.greeting.trim() === '';
    write(this.#status, statusOf(state, look));
    write(this.#mode, modeOf(state, look));
    this.#mode.dataset['mode'] = reconnecting ? '' : mode;
    this.#mode.classList.toggle('muted', muted);
    write(this.#notice, state.notice);
    write(this.#consentText, look.consent);
    this.#consent.hidden = stage !== 'consent';
    this.transcript.show(look);
    this.#form.hidden = !look.hasTyping || stage !== 'talking';
    write(this.#label, texts.message);
    write(this.#send, texts.send);
  }

  /** Gives the keyboard's place to what is next; the panel is shown. */
  focus(state: State, look: Look): void {
    this.#next(state, look).focus();
  }

  #next({ stage, writing }: State, { hasMuting, hasTyping }: Look): HTMLElement {
    const of = (action: Action): HTMLElement => this.#buttons.get(action) ?? this.#close;
    // On a telephone, whoever speaks does not want the keyboard on the screen.
    if (stage === 'talking' && writing && hasTyping) return this.#input;
    const next = { idle: 'start', connecting: 'cancel', talking: hasMuting ? 'mute' : 'end' } as const;
    return stage === 'consent' ? this.#consent : of(next[stage]);
  }

  focusLauncher(): void {
    this.#launcher.focus();
  }
}
