/** The workspace's agents, and a new one. */
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { momentText } from '../../format.js';
import { submitting, useAction, useKept, usePages } from '../../hooks.js';
import { Check, Empty, Failure, Field, Loading, More, Page, Scroll } from '../../parts/basics.js';
import { Search } from '../../parts/search.js';
import { go, linkTo, setQuery, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import type { Agent } from './agent-api.js';
import { PublishedTag } from './state.js';
import { firstTexts } from './first/texts.js';

const { agents } = texts;

function Create() {
  const [name, setName] = useKept<string>('agent.name', '');
  const making = useAction(async (signal) => {
    const agent = await ask<Agent>('v1/agent/agents', { body: { name: name.trim() }, signal });
    setName('');
    go(['agents', agent.agent_id]);
  });
  return (
    <form class="stack tight" onSubmit={submitting(making)}>
      <div class="row end">
        <Field label={agents.newName}>
          {(tied) => (
            <input
              {...tied}
              required
              maxLength={120}
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          )}
        </Field>
        <button class="button primary" disabled={making.busy}>
          {agents.create}
        </button>
      </div>
      <Failure error={making.error} />
    </form>
  );
}

const FromTemplate = () => (
  <p>
    <a class="button" href={linkTo(['agents', 'new'])}>
      {firstTexts.link}
    </a>
  </p>
);

const Rows = ({ rows }: { readonly rows: readonly Agent[] }) => (
  <Scroll label={texts.views.agents}>
    <table class="list">
      <thead>
        <tr>
          <th>{agents.name}</th>
          <th>{agents.state}</th>
          <th class="spare">{agents.changed}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((agent) => (
          <tr key={agent.agent_id}>
            <td>
              <a href={linkTo(['agents', agent.agent_id])}>{agent.name}</a>
            </td>
            <td>
              <PublishedTag agent={agent} />
            </td>
            <td class="spare when">{momentText(agent.updated_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
);

/** The agents found; where there is none yet, the way to the first. */
function Found({ rows, search }: { readonly rows: readonly Agent[]; readonly search: string }) {
  const mayMake = useMay()('manage') && search === '';
  if (rows.length > 0)
    return (
      <>
        {mayMake && <FromTemplate />}
        <Rows rows={rows} />
      </>
    );
  return <Empty title={search ? agents.noneMatching : agents.none}>{mayMake && <FromTemplate />}</Empty>;
}

export function AgentList() {
  const may = useMay();
  const { query } = useAddress();
  const search = query.get('search') ?? '';
  const archived = query.get('archived') === '1';
  const asked = new URLSearchParams({
    page_size: '50',
    ...(search && { search }),
    ...(archived && { include_archived: 'true' }),
  });
  const { rows, error, busy, more, reload } = usePages<Agent>(
    `v1/agent/agents?${asked.toString()}`,
    'agents',
  );
  return (
    <Page title={texts.views.agents} intro={agents.intro}>
      {may('manage') && <Create />}
      <div class="row end">
        <Search label={agents.search} value={search} change={(text) => setQuery({ search: text })} />
        <Check
          label={agents.withArchived}
          checked={archived}
          onChange={(on) => setQuery({ archived: on ? 1 : '' })}
        />
      </div>
      <Failure error={error} retry={reload} />
      {!rows && busy && <Loading />}
      {rows && <Found rows={rows} search={search} />}
      <More more={more} busy={busy} />
    </Page>
  );
}
