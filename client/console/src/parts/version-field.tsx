/** Choice of an agent's published version, its draft, or one of its versions. */
import { useMay } from '../account.js';
import { ask } from '../api.js';
import { useLoad } from '../hooks.js';
import { texts } from '../texts.js';
import { Field } from './basics.js';

const { agents } = texts;

export const LIVE = 'live';
export const DRAFT = 'draft';

interface VersionPage {
  readonly versions: readonly { readonly version_number: number; readonly version_title: string | null }[];
}

/** The newest 50 versions: more than anybody goes back. */
const versionsOf = async (agent: string, signal: AbortSignal): Promise<VersionPage['versions']> => {
  const path = `v1/agent/agents/${encodeURIComponent(agent)}/versions?page_size=50`;
  return (await ask<VersionPage>(path, { signal })).versions;
};

/** `value`: `live`, `draft`, or a number; `any` is what `live` is called where it stands for all of them. */
export function VersionField({
  agent,
  value,
  any = agents.published,
  choose,
}: {
  readonly agent: string;
  readonly value: string;
  readonly any?: string;
  readonly choose: (version: string) => void;
}) {
  const may = useMay();
  const { data = [] } = useLoad(
    async (signal) => (agent && may('read') ? versionsOf(agent, signal) : []),
    [agent],
  );
  return (
    <Field label={agents.which}>
      {(tied) => (
        <select {...tied} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          <option value={LIVE}>{any}</option>
          <option value={DRAFT}>{agents.draft}</option>
          {data.map(({ version_number: number, version_title: title }) => (
            <option key={number} value={String(number)}>
              {[agents.version(number), title].filter(Boolean).join(' · ')}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
