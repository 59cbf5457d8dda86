/** Settings of an agent outside of its configuration: name, allowed uses, archived or not; and code to embed it in a page. */
import { useMemo } from 'preact/hooks';
import { useMay } from '../../account.js';
import { addressOf, ask } from '../../api.js';
import { FormContext, Parts } from '../../form/form.js';
import { bodySchema } from '../../form/schema.js';
import { useLoad } from '../../hooks.js';
import { Failure, Loading } from '../../parts/basics.js';
import { Copy } from '../../parts/copy.js';
import { Remove } from '../../parts/remove.js';
import { go } from '../../router.js';
import { texts } from '../../texts.js';
import { type Agent, agentPath } from './agent-api.js';
import { useSaved } from './saving.js';
import { SaveState } from './editor.js';
import { Export } from './export.js';

const { agents } = texts;

const NO_CONTROLS = {};

const Head = ({ saved }: { readonly saved: Parameters<typeof SaveState>[0]['saved'] }) => (
  <div class="row apart">
    <h2>{agents.tabs.settings}</h2>
    <SaveState saved={saved} />
  </div>
);

/** Code for a page on one of the origins that the agent allows: the widget. */
const embedOf = ({
  agent_id: id,
}: Agent): string => `<script src="${addressOf('widget.js').href}" async></script>
<speech-agent agent-id="${id}"></speech-agent>`;

const Embed = ({ agent }: { readonly agent: Agent }) => (
  <section class="panel stack tight">
    <div class="row apart">
      <h2>{agents.embed}</h2>
      <Copy text={embedOf(agent)} />
    </div>
    <p class="soft">{agents.embedHelp}</p>
    <pre tabIndex={0}>{embedOf(agent)}</pre>
  </section>
);

export function Settings({
  agent,
  changed,
}: {
  readonly agent: Agent;
  readonly changed: (agent: Agent) => void;
}) {
  const may = useMay();
  const {
    data: schema,
    error,
    reload,
  } = useLoad(() => bodySchema('/v1/agent/agents/{agent_id}', 'patch'), []);
  const path = agentPath(agent.agent_id);
  const saved = useSaved<Agent & Readonly<Record<string, unknown>>>(path, { ...agent }, async (parts) => {
    const answer = await ask<Agent>(path, { method: 'PATCH', body: parts });
    changed(answer);
    return { ...answer };
  });
  const parts = useMemo(
    () => ({ problems: saved.problems, disabled: !may('manage'), controls: NO_CONTROLS }),
    [saved.problems],
  );
  if (!schema) return error === undefined ? <Loading /> : <Failure error={error} retry={reload} />;
  const known = Object.fromEntries(
    Object.keys(schema.properties ?? {}).map((name) => [name, saved.value[name]]),
  );
  return (
    <FormContext.Provider value={parts}>
      <div class="panel stack">
        <Head saved={saved} />
        <div class="fields">
          <Parts
            schema={schema}
            path={[]}
            value={known}
            change={(next) => {
              for (const [name, value] of Object.entries(next as object))
                if (value !== known[name]) saved.edit(name, value);
            }}
          />
        </div>
        <Failure error={saved.error} retry={() => void saved.flush()} />
      </div>
      <Embed agent={agent} />
      <Export agent={agent} />
      {may('manage') && <Remove path={path} sure={agents.removeSure} done={() => go(['agents'])} />}
    </FormContext.Provider>
  );
}
