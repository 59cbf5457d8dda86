/** Tools of agents: HTTP endpoints, functions of a client, MCP servers. Saved as the user types, and tried against the real address. */
import { useMemo, useState } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { FormContext, Parts } from '../../form/form.js';
import { bodySchema, type Schema } from '../../form/schema.js';
import { submitting, useAction, useKept, useLoad } from '../../hooks.js';
import { AnswerTag, Failure, Field, Loading, Page } from '../../parts/basics.js';
import { NameField } from '../../parts/name-field.js';
import { Listing } from '../../parts/listing.js';
import { Remove } from '../../parts/remove.js';
import { go, linkTo, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import { SaveState } from '../agents/editor.js';
import { type Saved, useSaved } from '../agents/saving.js';

const { tools } = texts;

type Tool = Readonly<Record<string, unknown>> & {
  readonly tool_id: string;
  readonly name: string;
  readonly tool_type: string;
  readonly updated_at: string;
};

interface Tried {
  readonly ok: boolean;
  readonly status_code: number | null;
  readonly latency_ms: number;
  readonly response_body: string;
  readonly error: string | null;
}

const pathOf = (id: string): string => `v1/agent/tools/${encodeURIComponent(id)}`;

const TYPES = ['webhook', 'client', 'mcp'] as const;
type Type = (typeof TYPES)[number];

const TypeField = ({ type, choose }: { readonly type: Type; readonly choose: (type: Type) => void }) => (
  <Field label={tools.type}>
    {(tied) => (
      <select {...tied} value={type} onChange={({ currentTarget }) => choose(currentTarget.value as Type)}>
        {TYPES.map((each) => (
          <option key={each} value={each}>
            {tools.types[each]}
          </option>
        ))}
      </select>
    )}
  </Field>
);

/** A form for a new tool: it asks only for what the address needs; the rest is edited afterwards. */
function Create() {
  const [name, setName] = useKept<string>('tool.name', '');
  const [type, setType] = useKept<Type>('tool.type', 'webhook');
  const [url, setUrl] = useKept<string>('tool.url', 'https://');
  const making = useAction(async (signal) => {
    const body = { name: name.trim(), tool_type: type, ...(type !== 'client' && { url }) };
    const { tool_id: id } = await ask<Tool>('v1/agent/tools', { body, signal });
    setName('');
    setUrl('https://');
    go(['tools', id]);
  });
  return (
    <form class="stack tight" onSubmit={submitting(making)}>
      <div class="row end">
        <NameField label={tools.newName} value={name} change={setName} />
        <TypeField type={type} choose={setType} />
        {type !== 'client' && (
          <Field label={tools.address}>
            {(tied) => (
              <input
                {...tied}
                required
                value={url}
                onInput={({ currentTarget }) => setUrl(currentTarget.value)}
              />
            )}
          </Field>
        )}
        <button class="button primary" disabled={making.busy}>
          {texts.agents.create}
        </button>
      </div>
      <Failure error={making.error} />
    </form>
  );
}

const Result = ({ tried }: { readonly tried: Tried }) => (
  <div class="stack tight" role="status">
    <p>
      <AnswerTag status={tried.status_code ?? tools.noAnswer} ok={tried.ok} ms={tried.latency_ms} />
    </p>
    {tried.error && <p class="problem">{tried.error}</p>}
    <pre tabIndex={0}>{tried.response_body}</pre>
  </div>
);

/** Errors: one that says what to type. */
function argumentsIn(text: string): object {
  try {
    const values = JSON.parse(text) as object | null;
    if (typeof values === 'object' && values !== null && !Array.isArray(values)) return values;
  } catch {
    // Reported like any other text that is not an object.
  }
  throw new Error(texts.form.noObject);
}

/** Calls the real address. */
function Try({
  id,
  type,
  saved,
}: {
  readonly id: string;
  readonly type: 'webhook' | 'mcp';
  readonly saved: Saved<Tool>;
}) {
  const [values, setValues] = useKept<string>(`tool.${id}`, '{}');
  const [tried, setTried] = useState<Tried | undefined>();
  const trial = useAction(async (signal) => {
    setTried(undefined);
    const parsed = argumentsIn(values);
    if (await saved.flush())
      setTried(await ask<Tried>(`${pathOf(id)}/test`, { body: { arguments: parsed }, signal }));
  });
  return (
    <section class="panel stack tight">
      <h2>{tools.trial}</h2>
      <Field label={tools.values} help={tools.trialHelp[type]}>
        {(tied) => (
          <textarea
            {...tied}
            class="mono"
            value={values}
            onInput={({ currentTarget }) => setValues(currentTarget.value)}
          />
        )}
      </Field>
      <div class="row">
        <button class="button" type="button" disabled={trial.busy} onClick={() => void trial.run()}>
          {tools.call}
        </button>
        {trial.busy && (
          <button class="button" type="button" onClick={trial.cancel}>
            {texts.cancel}
          </button>
        )}
      </div>
      <Failure error={trial.error} />
      {tried && <Result tried={tried} />}
    </section>
  );
}

function TryAny({
  tool: { tool_id: id, tool_type: type },
  saved,
}: {
  readonly tool: Tool;
  readonly saved: Saved<Tool>;
}) {
  if (type !== 'client') return <Try id={id} type={type === 'mcp' ? 'mcp' : 'webhook'} saved={saved} />;
  return (
    <section class="panel stack tight">
      <h2>{tools.trial}</h2>
      <p class="soft">
        {tools.trialClient} <a href={linkTo(['talk'])}>{tools.trialTalk}</a>
      </p>
    </section>
  );
}

const NO_CONTROLS = {};
const BACK = { name: tools.back, to: linkTo(['tools']) };

/** Fields that tools of each type do not have. Mock responses have no effect and are kept only for clients that set them. */
const NOT_OF: Readonly<Record<Type, readonly string[]>> = {
  webhook: ['mock_responses', 'expects_response', 'allowed_tools', 'while_speaking'],
  client: [
    'mock_responses',
    'method',
    'url',
    'content_type',
    'body_template',
    'headers',
    'allowed_tools',
    'execution_mode',
  ],
  mcp: [
    'mock_responses',
    'arguments',
    'method',
    'content_type',
    'body_template',
    'expects_response',
    'execution_mode',
  ],
};

const ofType = ({ properties = {} }: Schema, type: string): Schema => ({
  properties: Object.fromEntries(
    Object.entries(properties).filter(([name]) => !NOT_OF[type as Type]?.includes(name)),
  ),
});

function Editor({ tool, schema }: { readonly tool: Tool; readonly schema: Schema }) {
  const may = useMay();
  const id = tool.tool_id;
  const saved = useSaved<Tool>(pathOf(id), tool, (body) => ask<Tool>(pathOf(id), { method: 'PATCH', body }));
  const parts = useMemo(
    () => ({ problems: saved.problems, disabled: !may('manage'), controls: NO_CONTROLS }),
    [saved.problems],
  );
  const change = (next: unknown) => {
    for (const [name, value] of Object.entries(next as object))
      if (value !== saved.value[name]) saved.edit(name, value);
  };
  return (
    <FormContext.Provider value={parts}>
      <Page title={tool.name} back={BACK} state={<SaveState saved={saved} />}>
        <div class="panel fields">
          <Parts schema={ofType(schema, tool.tool_type)} path={[]} value={saved.value} change={change} />
        </div>
        <Failure error={saved.error} retry={() => void saved.flush()} />
        {may('manage') && <TryAny tool={tool} saved={saved} />}
        {may('manage') && <Remove path={pathOf(id)} sure={tools.removeSure} done={() => go(['tools'])} />}
      </Page>
    </FormContext.Provider>
  );
}

function ToolView({ id }: { readonly id: string }) {
  const { data, error, reload } = useLoad(
    (signal) =>
      Promise.all([ask<Tool>(pathOf(id), { signal }), bodySchema('/v1/agent/tools/{tool_id}', 'patch')]),
    [id],
  );
  if (data) return <Editor tool={data[0]} schema={data[1]} />;
  return (
    <Page title={texts.views.tools} back={BACK}>
      {error === undefined ? <Loading /> : <Failure error={error} retry={reload} />}
    </Page>
  );
}

export function Tools() {
  const may = useMay();
  const id = useAddress().path[1];
  if (id !== undefined) return <ToolView key={id} id={id} />;
  return (
    <Page title={texts.views.tools} intro={tools.intro}>
      {may('manage') && <Create />}
      <Listing<Tool>
        path="v1/agent/tools?page_size=50"
        plural="tools"
        label={texts.views.tools}
        none={tools.none}
        link={({ tool_id: tool }) => ['tools', tool]}
        kind={({ tool_type: type }) => tools.types[type as (typeof TYPES)[number]] ?? type}
      />
    </Page>
  );
}
