/** The voice and the speed of speech; both are kept in the address. */
import { useMay } from '../account.js';
import { useLoad } from '../hooks.js';
import { setQuery } from '../router.js';
import { texts } from '../texts.js';
import { allVoices, voiceName } from '../voices.js';
import { Field } from './basics.js';

const { speak } = texts;

export const VoiceField = ({ value }: { readonly value: string }) => {
  const may = useMay();
  const { data = [] } = useLoad(async (signal) => (may('catalogue') ? allVoices(signal) : []), []);
  return (
    <Field label={speak.voice}>
      {(tied) => (
        <select
          {...tied}
          value={value}
          onChange={({ currentTarget }) => setQuery({ voice: currentTarget.value })}
        >
          <option value="">{speak.defaultVoice}</option>
          {data.map((voice) => (
            <option key={voice._id} value={voice._id}>
              {voiceName(voice)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
};

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
