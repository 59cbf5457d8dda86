/** A select of voices, with a sample of the chosen one beside it. */
import { useMay } from '../account.js';
import { useLoad } from '../hooks.js';
import { allVoices, voiceName, type VoiceRow } from '../voices.js';
import { Failure } from './basics.js';
import { Hear, useSample } from './sample.js';

interface Choice {
  /** Attributes that link the select to its label and its help. */
  readonly tied: { readonly id: string; readonly disabled?: boolean };
  readonly value: string;
  /** What stands for the default voice: its value and its name. */
  readonly standard: { readonly value: string; readonly name: string };
  /** The language in which the default voice is heard; with `only`, voices of others are left out. */
  readonly language?: string;
  readonly only?: boolean;
  readonly choose: (id: string) => void;
}

const optionsOf = (voices: readonly VoiceRow[], { value, language, only }: Choice) => {
  const fits = ({ _id, languages }: VoiceRow) =>
    !only || _id === value || language === undefined || languages.includes(language);
  return voices.filter(fits).map((voice) => ({ id: voice._id, name: voiceName(voice) }));
};

export function VoiceSelect(choice: Choice) {
  const { tied, value, standard, language = 'en', choose } = choice;
  const may = useMay();
  const { data = [] } = useLoad(async (signal) => (may('catalogue') ? allVoices(signal) : []), []);
  const hear = useSample();
  const chosen = data.find(({ _id }) => _id === value);
  const isUnknown = value !== standard.value && !chosen;
  const sampled = chosen
    ? { id: chosen._id, title: chosen.title, languages: chosen.languages }
    : { id: isUnknown ? value : '', title: isUnknown ? value : standard.name, languages: [language] };
  return (
    <>
      <div class="row line">
        <select {...tied} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          <option value={standard.value}>{standard.name}</option>
          {optionsOf(data, choice).map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          {isUnknown && <option value={value}>{value}</option>}
        </select>
        {may('speech') && <Hear voice={sampled} hear={hear} />}
      </div>
      <Failure error={hear.error} />
    </>
  );
}
