/** A select of the workspace's agents, by name; where there are many, with a search that narrows it. */
import { useState } from 'preact/hooks';
import type { AgentRow } from '../agents.js';
import { texts } from '../texts.js';
import { Field } from './basics.js';

/** Beyond this nobody finds a name in a list. */
const MANY = 15;

const { calls } = texts;

const byName = ({ name: one }: AgentRow, { name: other }: AgentRow): number => one.localeCompare(other);

const Options = ({ agents }: { readonly agents: readonly AgentRow[] }) => (
  <>
    {agents.map(({ agent_id: id, name }) => (
      <option key={id} value={id}>
        {name}
      </option>
    ))}
  </>
);

/** All words, in any order; the one that is chosen stays. */
function narrowed(agents: readonly AgentRow[], typed: string, chosen: string): readonly AgentRow[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return agents.filter(
    ({ agent_id: id, name }) => id === chosen || words.every((word) => name.toLowerCase().includes(word)),
  );
}

export interface AgentSelectProps {
  readonly label: string;
  readonly agents: readonly AgentRow[];
  readonly value: string;
  /** What an empty value is called; absent: there is none. */
  readonly none?: string;
  readonly help?: string;
  readonly disabled?: boolean;
  readonly choose: (agent: string) => void;
}

export function AgentSelect({
  label,
  agents,
  value,
  none,
  help,
  disabled = false,
  choose,
}: AgentSelectProps) {
  const [typed, type] = useState('');
  const shown = narrowed(agents.toSorted(byName), typed, value);
  return (
    <div class="stack tight">
      <Field label={label} {...(help && { help })}>
        {(tied) => (
          <select
            {...tied}
            value={value}
            disabled={disabled}
            onChange={({ currentTarget }) => choose(currentTarget.value)}
          >
            {none !== undefined && <option value="">{none}</option>}
            <Options agents={shown} />
          </select>
        )}
      </Field>
      {agents.length > MANY && (
        <Field label={calls.findAgent}>
          {(tied) => (
            <>
              <input
                {...tied}
                type="search"
                value={typed}
                onInput={({ currentTarget }) => type(currentTarget.value)}
              />
              <p class="help" role="status">
                {calls.agentsFound(shown.length)}
              </p>
            </>
          )}
        </Field>
      )}
    </div>
  );
}
