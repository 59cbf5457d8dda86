/** The buttons of each stage: a row for each, in their order. */
import type { Look, Stage, State } from './state.js';
import type { Texts } from './texts.js';

export type Action = 'start' | 'type' | 'agree' | 'decline' | 'cancel' | 'mute' | 'end';

interface Row {
  readonly stage: Stage;
  readonly label: (state: State) => keyof Texts;
  readonly kind: 'main' | 'other' | 'end';
  /** Default: always. */
  readonly shown?: (look: Look) => boolean;
}

export const BUTTONS: Readonly<Record<Action, Row>> = {
  start: { stage: 'idle', label: ({ again }) => (again ? 'again' : 'start'), kind: 'main' },
  type: { stage: 'idle', label: () => 'type', kind: 'other', shown: ({ hasTyping }) => hasTyping },
  agree: { stage: 'consent', label: () => 'agree', kind: 'main' },
  decline: { stage: 'consent', label: () => 'decline', kind: 'other' },
  cancel: { stage: 'connecting', label: () => 'cancel', kind: 'other' },
  mute: {
    stage: 'talking',
    label: ({ muted }) => (muted ? 'unmute' : 'mute'),
    kind: 'other',
    shown: ({ hasMuting }) => hasMuting,
  },
  end: { stage: 'talking', label: () => 'end', kind: 'end' },
};

export const ACTIONS = Object.keys(BUTTONS) as readonly Action[];
