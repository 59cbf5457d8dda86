/** A field for an agent: picked from a list, or typed as an id if the key may not list agents. */
import type { AgentRow } from '../agents.js';
import { texts } from '../texts.js';
import { AgentSelect } from './agent-select.js';
import { Field } from './basics.js';

const { talk } = texts;

interface Choice {
  readonly chosen: string;
  readonly choose: (agent: string) => void;
}

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
  agents ? (
    <AgentSelect label={talk.agent} agents={agents} value={choice.chosen} choose={choice.choose} />
  ) : (
    <AgentInput {...choice} />
  );
