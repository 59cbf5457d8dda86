/** The state of an agent, from one place: published or not, and whether its draft is what callers hear. */
import { texts } from '../../texts.js';
import type { Agent, Config, Version } from './agent-api.js';
import type { Saved } from './saving.js';

const { agents } = texts;

export interface AgentState {
  readonly agent: Agent;
  /** The version that callers hear; undefined if there is none. */
  readonly live: Version | undefined;
  /** Whether the draft differs from it, or from nothing. */
  readonly isChanged: boolean;
}

/** What is typed and not saved yet is a change as well. */
export const stateOf = (agent: Agent, live: Version | undefined, saved: Saved<Config>): AgentState => ({
  agent,
  live,
  isChanged: saved.state !== 'saved' || live?.config_hash !== saved.value.config_hash,
});

type Shown = readonly [words: string, tone: '' | 'good' | 'warn'];

const shownOf = ({ agent, live, isChanged }: AgentState): Shown => {
  if (agent.status === 'archived') return [agents.archived, ''];
  if (!live) return [agents.states.draft, ''];
  return isChanged
    ? [agents.states.changed(live.version_number), 'warn']
    : [agents.states.live(live.version_number), 'good'];
};

export const StateTag = ({ state }: { readonly state: AgentState }) => {
  const [words, tone] = shownOf(state);
  return (
    <span class={`tag ${tone}`} role="status">
      {words}
    </span>
  );
};

/** In lists, which do not know of drafts. */
export const PublishedTag = ({ agent: { status, publication_state: state } }: { readonly agent: Agent }) => (
  <span class={`tag ${status === 'active' && state === 'live' ? 'good' : ''}`}>
    {status === 'archived'
      ? agents.archived
      : state === 'live'
        ? agents.states.published
        : agents.states.draft}
  </span>
);
