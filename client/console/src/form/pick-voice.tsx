/** The control for a voice in a form made of a schema: names, and a sample of the chosen one. */
import { VoiceSelect } from '../parts/voice-select.js';
import { texts } from '../texts.js';
import { Labelled, type NodeProps } from './form.js';

const STANDARD = { value: 'default', name: texts.speak.defaultVoice };

export const pickVoice = ({ schema, path, value, change }: NodeProps) => (
  <Labelled schema={schema} path={path} bounds="">
    {(tied) => (
      <VoiceSelect
        tied={tied}
        value={typeof value === 'string' && value !== '' ? value : STANDARD.value}
        standard={STANDARD}
        choose={change}
      />
    )}
  </Labelled>
);
