/** The workspace's agents as options of a select. */
import type { AgentRow } from '../agents.js';

export const AgentOptions = ({ agents }: { readonly agents: readonly AgentRow[] }) => (
  <>
    {agents.map(({ agent_id: id, name }) => (
      <option key={id} value={id}>
        {name}
      </option>
    ))}
  </>
);
