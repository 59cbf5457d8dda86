/** The section `widget` of an agent's configuration: what pages with a widget show (docs/contract/platform.md 6.3, docs/widget.md). */
import { LIMITS } from '../limits.js';
import { nullable, text } from './shapes.js';
import { type Static, type TProperties, Type } from './type.js';

const { widget } = LIMITS.agent;

/** Names are those of the widget that reads them: others than ours have their own. */
const Texts = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  maxProperties: widget.texts,
  patternProperties: { [widget.textNamePattern]: { type: 'string', maxLength: widget.text } },
  additionalProperties: false,
  description: 'Words of the widget in place of its own, by their names (docs/widget.md).',
});

const optional = (length: number, description: string) => nullable(text(length, { description }));
const flag = (description: string) => Type.Boolean({ description });

export const WIDGET_LEAVES = {
  agent_name: optional(widget.agentName, 'What the agent is called. Empty: its name here.'),
  greeting: optional(widget.greeting, 'Shown in the widget before the first call.'),
  proactive_message: optional(widget.proactiveMessage, 'Shown beside the button while the widget is closed.'),
  consent_required: flag('Whether visitors are asked to agree before anything is opened or sent.'),
  consent_text: optional(widget.consentText, 'What they agree to. Empty: a sentence of the widget’s own.'),
  transcript_enabled: flag('Whether what is said is shown.'),
  text_input_enabled: flag('Whether visitors can type.'),
  mic_muting_enabled: flag('Whether visitors can mute their microphone.'),
  text_contents: Texts,
} as const satisfies TProperties;

const Widget = Type.Object(WIDGET_LEAVES);
export type Widget = Static<typeof Widget>;

export const DEFAULT_WIDGET: Widget = {
  agent_name: null,
  greeting: null,
  proactive_message: null,
  consent_required: false,
  consent_text: null,
  transcript_enabled: true,
  text_input_enabled: true,
  mic_muting_enabled: true,
  text_contents: {},
};
