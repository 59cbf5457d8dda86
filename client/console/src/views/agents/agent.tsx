/** One agent: its draft, its versions, its other settings. */
import { useState } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { useLoad } from '../../hooks.js';
import { Failure, Loading, Page } from '../../parts/basics.js';
import { Tabs } from '../../parts/tabs.js';
import { DRAFT } from '../../parts/version-field.js';
import { linkTo } from '../../router.js';
import { texts } from '../../texts.js';
import { type Agent, agentPath, type Config, newestVersion, type Version } from './agent-api.js';
import { ConfigForm, SaveState, useDraft } from './editor.js';
import { PhoneCall } from './phone-call.js';
import { Publish } from './publish.js';
import type { Saved } from './saving.js';
import { Settings } from './settings.js';
import { type AgentState, stateOf, StateTag } from './state.js';
import { Versions } from './versions.js';
import { Webhooks } from './webhooks.js';

const { agents } = texts;

const TABS = ['draft', 'versions', 'webhooks', 'settings'] as const;
type Tab = (typeof TABS)[number];

interface Known {
  readonly agent: Agent;
  readonly config: Config;
  readonly live: Version | undefined;
}

async function load(id: string, signal: AbortSignal): Promise<Known> {
  const [agent, config, live] = await Promise.all([
    ask<Agent>(agentPath(id), { signal }),
    ask<Config>(agentPath(id, '/config'), { signal }),
    newestVersion(id, signal),
  ]);
  return { agent, config, live };
}

const Head = ({
  state,
  saved,
}: {
  readonly state: AgentState;
  /** State of saving the draft, if the draft is shown. */
  readonly saved: Saved<Config> | undefined;
}) => {
  const may = useMay();
  const { agent_id: id, name } = state.agent;
  return (
    <header class="stack tight">
      <p>
        <a href={linkTo(['agents'])}>{agents.back}</a>
      </p>
      <div class="row">
        <h1>{name}</h1>
        <StateTag state={state} />
        {saved && <SaveState saved={saved} />}
      </div>
      <div class="row">
        {may('manage') && (
          <a class="button" href={linkTo(['talk'], { agent: id, version: DRAFT })}>
            {agents.talkDraft}
          </a>
        )}
        {may('records') && (
          <a class="button" href={linkTo(['calls'], { agent_id: id })}>
            {agents.calls}
          </a>
        )}
        <code>{id}</code>
      </div>
    </header>
  );
};

function Loaded({ known, tab }: { readonly known: Known; readonly tab: Tab }) {
  const may = useMay();
  const [agent, setAgent] = useState(known.agent);
  const [live, setLive] = useState(known.live);
  const id = agent.agent_id;
  const saved = useDraft(id, known.config);
  const state = stateOf(agent, live, saved);
  return (
    <div class="stack">
      <Head state={state} saved={tab === 'draft' ? saved : undefined} />
      <Tabs
        label={agents.parts}
        tabs={TABS.map((each) => ({
          name: agents.tabs[each],
          to: linkTo(['agents', id, each]),
          isCurrent: each === tab,
        }))}
      />
      {tab === 'draft' && (
        <>
          {may('manage') && <Publish saved={saved} state={state} done={setLive} />}
          <ConfigForm id={id} saved={saved} />
        </>
      )}
      {tab === 'versions' && <Versions id={id} live={live} draft={saved.value} restored={saved.take} />}
      {tab === 'webhooks' && <Webhooks id={id} draft={saved.value} />}
      {tab === 'settings' && <Settings agent={agent} changed={setAgent} />}
      {tab === 'draft' && live && may('sessions') && may('read') && <PhoneCall id={id} />}
    </div>
  );
}

export function AgentView({ id, part }: { readonly id: string; readonly part: string | undefined }) {
  const { data, error, reload } = useLoad((signal) => load(id, signal), [id]);
  if (!data)
    return (
      <Page title={texts.views.agents}>
        {error === undefined ? <Loading /> : <Failure error={error} retry={reload} />}
      </Page>
    );
  return <Loaded known={data} tab={TABS.find((tab) => tab === part) ?? 'draft'} />;
}
