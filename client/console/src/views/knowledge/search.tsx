/** The passages that an agent, as its draft or as published, would be given to answer a question. */
import { type AgentRow, allAgents } from '../../agents.js';
import { ask } from '../../api.js';
import { useLoad } from '../../hooks.js';
import { AgentSelect } from '../../parts/agent-select.js';
import { Check, Empty, Failure, Loading } from '../../parts/basics.js';
import { Search } from '../../parts/search.js';
import { linkTo, setQuery, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import { agentPath, newestVersion } from '../agents/agent-api.js';

const { search } = texts.knowledge;

interface Found {
  readonly enabled: boolean;
  readonly passages: readonly {
    readonly knowledge_source_id: string;
    readonly name: string;
    readonly text: string;
    readonly found_by: keyof typeof search.foundBy;
  }[];
}

interface Asked {
  readonly agent: string;
  readonly live: boolean;
  readonly question: string;
}

/** Undefined if no agent or no question is given. */
async function find({ agent, live, question }: Asked, signal: AbortSignal): Promise<Found | undefined> {
  if (agent === '' || question === '') return undefined;
  const version = live ? await newestVersion(agent, signal) : undefined;
  if (live && !version) throw new Error(texts.agents.never);
  const body = { query: question, ...(version && { version_number: version.version_number }) };
  return ask<Found>(agentPath(agent, '/knowledge/search'), { body, signal });
}

const Passages = ({ found, agent }: { readonly found: Found; readonly agent: string }) => (
  <div class="stack" role="status">
    {found.passages.length === 0 && (
      <Empty title={found.enabled ? search.nothing : search.off}>
        {!found.enabled && <a href={linkTo(['agents', agent])}>{search.switchOn}</a>}
      </Empty>
    )}
    <ol class="stack">
      {found.passages.map(({ knowledge_source_id: id, name, text, found_by: by }, index) => (
        <li key={index} class="group stack tight">
          <div class="row apart">
            <a href={linkTo(['knowledge', id])}>{name}</a>
            <span class="soft">{search.foundBy[by]}</span>
          </div>
          <p class="text">{text}</p>
        </li>
      ))}
    </ol>
  </div>
);

const Agent = ({ agents, value }: { readonly agents: readonly AgentRow[]; readonly value: string }) => (
  <AgentSelect
    label={texts.calls.agent}
    agents={agents}
    value={value}
    none={search.choose}
    choose={(agent) => setQuery({ agent })}
  />
);

export function KnowledgeSearch() {
  const { query } = useAddress();
  const { data: agents = [] } = useLoad(allAgents, []);
  const asked = {
    agent: query.get('agent') ?? '',
    live: query.get('live') === '1',
    question: query.get('q') ?? '',
  };
  const { data, error, busy, reload } = useLoad(
    (signal) => find(asked, signal),
    [asked.agent, asked.live, asked.question],
  );
  if (agents.length === 0) return null;
  return (
    <section class="panel stack tight">
      <h2>{search.title}</h2>
      <div class="row end broad">
        <Agent agents={agents} value={asked.agent} />
        <Search label={search.question} value={asked.question} change={(text) => setQuery({ q: text })} />
        <Check
          label={search.live}
          checked={asked.live}
          onChange={(live) => setQuery({ live: live ? 1 : undefined })}
        />
      </div>
      <Failure error={error} retry={reload} />
      {busy && asked.agent !== '' && asked.question !== '' && <Loading />}
      {data && <Passages found={data} agent={asked.agent} />}
    </section>
  );
}
