/** The draft of an agent: each section of its configuration, saved as the user types. */
import { useMemo } from 'preact/hooks';
import { TEXTS as WIDGET_TEXTS } from '../../../../src/widget/texts.js';
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { FormContext, labelOf, Parts } from '../../form/form.js';
import { replaceTexts } from '../../form/named-texts.js';
import { pickOne, pickSome } from '../../form/pick.js';
import { pickVoice } from '../../form/pick-voice.js';
import { bodySchema, type Schema } from '../../form/schema.js';
import { useLoad } from '../../hooks.js';
import { Failure, Loading } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import { agentOptions, agentPath, type Config, sourceOptions, toolOptions } from './agent-api.js';
import { ModelSection } from './model.js';
import { type Saved, type Saving, useSaved } from './saving.js';

const { agents } = texts;

const CONTROLS = {
  'voice.voice_id': pickVoice,
  'tools.tool_ids': pickSome(toolOptions),
  'tools.transfer_agents.*.agent_id': pickOne(agentOptions),
  'knowledge_base.knowledge_source_ids': pickSome(sourceOptions),
  'widget.text_contents': replaceTexts(WIDGET_TEXTS),
};

export const SaveState = ({ saved }: { readonly saved: { readonly state: Saving } }) => (
  <span class={`tag ${saved.state === 'failed' ? 'bad' : ''}`} role="status">
    {agents.saving[saved.state]}
  </span>
);

type Fields = Readonly<Record<string, unknown>>;

const hasSources = ({ knowledge_source_ids: ids }: Fields): boolean => Array.isArray(ids) && ids.length > 0;

/** A question before a call without an address is none. */
const hasAddress = (init: unknown): boolean =>
  typeof init === 'object' && init !== null && Boolean((init as Fields)['url']);

/** Side effects of changing a section. Choosing the first source enables the knowledge base, since nobody chooses one to leave it unused. */
const MEANT: Readonly<Record<string, (before: Fields, after: Fields) => Fields>> = {
  knowledge_base: (before, after) =>
    hasSources(after) && !hasSources(before) ? { ...after, enabled: true } : after,
  webhooks: (_before, after) =>
    hasAddress(after['conversation_init']) ? after : { ...after, conversation_init: null },
};

const changed = (name: string, before: unknown, after: unknown): unknown =>
  MEANT[name]?.((before ?? {}) as Fields, after as Fields) ?? after;

/** One section of the form; all but the first are folded, since nobody reads a page of everything. */
const Section = ({
  name,
  schema,
  saved,
  open,
}: {
  readonly name: string;
  readonly schema: Schema;
  readonly saved: Saved<Config>;
  readonly open: boolean;
}) => (
  <details class="panel section" open={open}>
    <summary>
      <h2>{labelOf([name])}</h2>
    </summary>
    <div class="fields">
      <Parts
        schema={schema}
        path={[name]}
        value={saved.value[name]}
        change={(value) => saved.edit(name, changed(name, saved.value[name], value))}
      />
    </div>
  </details>
);

/** A section with a view of its own. */
const MODEL = 'llm';

const OPEN = new Set(['prompt', 'voice']);

export function ConfigForm({ id, saved }: { readonly id: string; readonly saved: Saved<Config> }) {
  const may = useMay();
  const {
    data: schema,
    error,
    reload,
  } = useLoad(() => bodySchema('/v1/agent/agents/{agent_id}/config', 'patch'), []);
  const parts = useMemo(
    () => ({ problems: saved.problems, disabled: !may('manage'), controls: CONTROLS }),
    [saved.problems],
  );
  if (!schema) return error === undefined ? <Loading /> : <Failure error={error} retry={reload} />;
  const sections = Object.entries(schema.properties ?? {}).filter(([, { readOnly }]) => !readOnly);
  return (
    <FormContext.Provider value={parts}>
      <div class="stack">
        {saved.error !== undefined && <Failure error={saved.error} retry={() => void saved.flush()} />}
        {sections.map(([name, section]) =>
          name === MODEL ? (
            <ModelSection key={name} id={id} saved={saved} />
          ) : (
            <Section key={name} name={name} schema={section} saved={saved} open={OPEN.has(name)} />
          ),
        )}
      </div>
    </FormContext.Provider>
  );
}

export const useDraft = (id: string, initial: Config): Saved<Config> =>
  useSaved<Config>(agentPath(id, '/config'), initial, (parts) =>
    ask<Config>(agentPath(id, '/config'), { method: 'PATCH', body: parts }),
  );
