/** Filters of lists that grow: the address holds them, and a change begins with the first page again. */
import { useMay } from '../account.js';
import { type AgentRow, allAgents } from '../agents.js';
import { useLoad } from '../hooks.js';
import { setQuery } from '../router.js';
import { texts } from '../texts.js';
import { AgentSelect } from './agent-select.js';
import { Field } from './basics.js';

const { calls } = texts;

/** Most pages of a list: more than anybody reads, or a browser draws quickly; filters narrow the list. */
export const MOST_PAGES = 200;

export const choose = (name: string, value: string): void => setQuery({ [name]: value, pages: '' });

type Changed = { readonly currentTarget: HTMLInputElement | HTMLSelectElement };

export const change =
  (name: string) =>
  ({ currentTarget }: Changed): void =>
    choose(name, currentTarget.value);

interface DateProps {
  readonly name: string;
  /** Of the input. */
  readonly type: 'date' | 'datetime-local';
  readonly label: string;
  readonly value: string;
}

export const DateFilter = ({ name, type, label, value }: DateProps) => (
  <Field label={label}>
    {(tied) => <input {...tied} type={type} value={value} onChange={change(name)} />}
  </Field>
);

interface StatusProps {
  readonly value: string;
  readonly any: string;
  /** The names of the statuses by their values. */
  readonly names: Readonly<Record<string, string>>;
}

export const StatusFilter = ({ value, any, names }: StatusProps) => (
  <Field label={calls.status}>
    {(tied) => (
      <select {...tied} value={value} onChange={change('status')}>
        <option value="">{any}</option>
        {Object.entries(names).map(([status, name]) => (
          <option key={status} value={status}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Field>
);

const NONE: readonly AgentRow[] = [];

/** Nothing for keys that may not read agents, or without any. It is there before they are known, so that less moves when they are. */
export function AgentFilter({ value }: { readonly value: string }) {
  const mayRead = useMay()('read');
  const { data: agents = NONE, busy } = useLoad(async (signal) => (mayRead ? allAgents(signal) : NONE), []);
  return !mayRead || (agents.length === 0 && !busy) ? null : (
    <AgentSelect
      label={calls.agent}
      agents={agents}
      value={value}
      none={calls.anyAgent}
      choose={(agent) => choose('agent_id', agent)}
    />
  );
}
