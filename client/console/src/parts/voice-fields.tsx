/** The voice and the speed of speech; both are kept in the address. */
import { setQuery } from '../router.js';
import { texts } from '../texts.js';
import { Field } from './basics.js';
import { VoiceSelect } from './voice-select.js';

const { speak } = texts;

const STANDARD = { value: '', name: speak.defaultVoice };

export const VoiceField = ({ value }: { readonly value: string }) => (
  <Field label={speak.voice}>
    {(tied) => (
      <VoiceSelect tied={tied} value={value} standard={STANDARD} choose={(voice) => setQuery({ voice })} />
    )}
  </Field>
);

export const SpeedField = ({ value }: { readonly value: number }) => (
  <Field label={speak.speed(value)}>
    {(tied) => (
      <input
        {...tied}
        type="range"
        min={0.5}
        max={2}
        step={0.05}
        value={value}
        onInput={({ currentTarget }) =>
          setQuery({ speed: currentTarget.value === '1' ? '' : currentTarget.value })
        }
      />
    )}
  </Field>
);
