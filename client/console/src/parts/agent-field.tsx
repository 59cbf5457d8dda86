/** A field for an agent: picked from a list, or typed as an id if the key may not list agents. */
import type { AgentRow } from '../agents.js';
import { texts } from '../texts.js';
import { AgentOptions } from './agent-options.js';
import { Field } from './basics.js';

const { talk } = texts;

interface Choice {
  readonly chosen: string;
  readonly choose: (agent: string) => void;
}

const AgentSelect = ({ agents, chosen, choose }: Choice & { readonly agents: readonly AgentRow[] }) => (
  <Field label={talk.agent}>
    {(tied) => (
      <select {...tied} value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <AgentOptions agents={agents} />
      </select>
    )}
  </Field>
);

const AgentInput = ({ chosen, choose }: Choice) => (
  <Field label={talk.agentId} help={talk.agentIdHelp}>
    {(tied) => (
      <input {...tied} value={chosen} onInput={({ currentTarget }) => choose(currentTarget.value)} />
    )}
  </Field>
);

export const AgentField = ({
  agents,
  ...choice
}: Choice & { readonly agents: readonly AgentRow[] | undefined }) =>
  agents ? <AgentSelect agents={agents} {...choice} /> : <AgentInput {...choice} />;
