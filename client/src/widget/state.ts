/** What the widget shows: where it is in a call, and how the page wants it. */
import type { Mode } from '../events.js';
import type { Texts } from './texts.js';

export type Stage = 'idle' | 'consent' | 'connecting' | 'talking';

export interface State {
  readonly open: boolean;
  /** The user has opened the panel, or does not want what stands beside the button. */
  readonly dismissed: boolean;
  readonly stage: Stage;
  /** The user writes, and was asked for no microphone. */
  readonly writing: boolean;
  readonly muted: boolean;
  readonly reconnecting: boolean;
  readonly mode: Mode;
  /** There was a call before. */
  readonly again: boolean;
  /** What has gone wrong, or how the last call has ended. */
  readonly notice: string;
}

export const FIRST: State = {
  open: false,
  dismissed: false,
  stage: 'idle',
  writing: false,
  muted: false,
  reconnecting: false,
  mode: 'listening',
  again: false,
  notice: '',
};

/** What is wished by attributes of the element, and by the agent's owner. */
export interface Look {
  readonly texts: Texts;
  readonly name: string;
  /** Shown before the first call; and beside the button, while nobody has opened the panel. */
  readonly greeting: string;
  readonly proactive: string;
  /** What the user agrees to before a call, unless the page has put elements of its own there. */
  readonly consent: string;
  readonly asksConsent: boolean;
  /** In the page's flow, and always open; otherwise in a corner of the window. */
  readonly inline: boolean;
  readonly hasTranscript: boolean;
  readonly hasTyping: boolean;
  readonly hasMuting: boolean;
}

/** How it is to be told: once a change, not with each word. */
export function statusOf({ stage, writing, muted, reconnecting }: State, { texts }: Look): string {
  if (stage === 'connecting') return texts.connecting;
  if (stage !== 'talking') return '';
  if (reconnecting) return texts.reconnecting;
  if (muted) return writing ? texts.writing : texts.muted;
  return texts.talking;
}

/** What the agent does; changes often, and is read only by those who look. */
export const modeOf = ({ stage, reconnecting, mode }: State, { texts }: Look): string =>
  stage === 'talking' && !reconnecting ? texts[mode] : '';
