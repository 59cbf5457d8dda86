/** What a page shows of an agent before a call (docs/contract/platform.md 6.1, docs/widget.md). */
import type { Widget } from '../../../../contracts/schemas/agent-widget.js';
import { type Static, Type } from '../../../../contracts/schemas/type.js';

const string = Type.Optional(Type.String());
const flag = Type.Optional(Type.Boolean());

/** Fields without a value are absent. */
export const WidgetEntity = Type.Object(
  {
    agent_name: Type.String(),
    greeting: string,
    proactive_message: string,
    consent_required: flag,
    consent_text: string,
    transcript_enabled: flag,
    text_input_enabled: flag,
    mic_muting_enabled: flag,
    text_contents: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  {
    title: 'Widget',
    examples: [
      {
        agent_name: 'Bakery',
        greeting: 'Ask us about your order.',
        consent_required: false,
        transcript_enabled: true,
        text_input_enabled: true,
        mic_muting_enabled: true,
        text_contents: { start: 'Call the bakery' },
      },
    ],
  },
);

/** `name`: the agent's own. `widget`: undefined before it is published. */
export function widgetEntity(name: string, widget?: Widget): Static<typeof WidgetEntity> {
  const set = Object.entries(widget ?? {}).filter(([, value]) => value !== null && value !== '');
  return { agent_name: name, ...Object.fromEntries(set) };
}
