/** What one changes of a first agent, in plain words; saved while one types. */
import { ask } from '../../../api.js';
import { bodySchema } from '../../../form/schema.js';
import { useLoad } from '../../../hooks.js';
import { Failure, Field } from '../../../parts/basics.js';
import { NameField } from '../../../parts/name-field.js';
import { VoiceSelect } from '../../../parts/voice-select.js';
import { linkTo } from '../../../router.js';
import { type Agent, agentPath, type Config } from '../agent-api.js';
import { SaveState, useDraft } from '../editor.js';
import { type Saved, useSaved } from '../saving.js';
import type { Made } from './made.js';
import { firstTexts } from './texts.js';

type Section = Readonly<Record<string, unknown>>;
type Named = { readonly name: string };

const STANDARD = { value: 'default', name: firstTexts.standard };

export interface Draft {
  readonly config: Saved<Config>;
  readonly named: Saved<Named>;
}

export function useFirstDraft({ agent_id: id, name }: Agent, initial: Config): Draft {
  const config = useDraft(id, initial);
  const named = useSaved<Named>(agentPath(id), { name }, async (parts) => {
    const answer = await ask<Agent>(agentPath(id), { method: 'PATCH', body: parts });
    return { name: answer.name };
  });
  return { config, named };
}

/** Sends what was typed last; false if not all of it could be saved. */
export const flushed = async ({ config, named }: Draft): Promise<boolean> =>
  (await Promise.all([config.flush(), named.flush()])).every(Boolean);

const sectionOf = (config: Config, name: string): Section => (config[name] ?? {}) as Section;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const NAMES = new Intl.DisplayNames('en', { type: 'language' });

async function languages(): Promise<readonly { readonly id: string; readonly name: string }[]> {
  const schema = await bodySchema('/v1/agent/agents/{agent_id}/config', 'patch');
  const options = schema.properties?.['voice']?.properties?.['speaking_language']?.enum ?? [];
  return options.flatMap((id) => (id === null ? [] : [{ id, name: NAMES.of(id) ?? id }]));
}

const LanguageSelect = ({
  value,
  choose,
}: {
  readonly value: string;
  readonly choose: (id: string) => void;
}) => {
  const { data = [{ id: value, name: NAMES.of(value) ?? value }] } = useLoad(languages, []);
  return (
    <Field label={firstTexts.language} help={firstTexts.languageHelp}>
      {(tied) => (
        <select {...tied} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {data.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
};

function Voices({ config }: { readonly config: Saved<Config> }) {
  const voice = sectionOf(config.value, 'voice');
  const language = textOf(voice['speaking_language']) || 'en';
  const edit = (change: Section) => config.edit('voice', { ...voice, ...change });
  return (
    <div class="fields">
      <LanguageSelect
        value={language}
        choose={(id) => edit({ speaking_language: id, voice_id: STANDARD.value })}
      />
      <Field label={firstTexts.voice}>
        {(tied) => (
          <VoiceSelect
            tied={tied}
            value={textOf(voice['voice_id']) || STANDARD.value}
            standard={STANDARD}
            language={language}
            only
            choose={(id) => edit({ voice_id: id })}
          />
        )}
      </Field>
    </div>
  );
}

/** Links to what came with the template; the draft waits meanwhile. */
const Brought = ({ parts: { tool, source } }: { readonly parts: Made }) => (
  <>
    {source && (
      <p>
        <a href={linkTo(['knowledge', source])}>{firstTexts.knowledge}</a>
      </p>
    )}
    {tool && (
      <p>
        <a href={linkTo(['tools', tool])}>{firstTexts.tool}</a>
      </p>
    )}
  </>
);

export function FirstFields({
  draft: { config, named },
  parts,
}: {
  readonly draft: Draft;
  readonly parts: Made;
}) {
  const prompt = sectionOf(config.value, 'prompt');
  const edit = (change: Section) => config.edit('prompt', { ...prompt, ...change });
  return (
    <section class="panel stack tight">
      <div class="row apart">
        <h2>{firstTexts.steps.change}</h2>
        <SaveState saved={config.state === 'saved' ? named : config} />
      </div>
      <NameField
        label={firstTexts.name}
        value={named.value.name}
        change={(name) => named.edit('name', name)}
      />
      <Field label={firstTexts.greeting}>
        {(tied) => (
          <textarea
            {...tied}
            rows={2}
            value={textOf(prompt['first_message'])}
            onInput={({ currentTarget }) => edit({ first_message: currentTarget.value })}
          />
        )}
      </Field>
      <Field label={firstTexts.task} help={firstTexts.taskHelp}>
        {(tied) => (
          <textarea
            {...tied}
            rows={6}
            value={textOf(prompt['system_prompt'])}
            onInput={({ currentTarget }) => edit({ system_prompt: currentTarget.value })}
          />
        )}
      </Field>
      <Brought parts={parts} />
      <Voices config={config} />
      <Failure error={config.error ?? named.error} />
    </section>
  );
}
