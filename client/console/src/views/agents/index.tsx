/** `agents` lists the agents, `agents/new` makes one from a template, `agents/ID` shows one, `agents/ID/versions` a part of it. */
import { useMay } from '../../account.js';
import { useAddress } from '../../router.js';
import { AgentView } from './agent.js';
import { FirstAgent } from './first/index.js';
import { AgentList } from './list.js';

export function Agents() {
  const [, id, part] = useAddress().path;
  const may = useMay();
  if (id === 'new' && may('manage')) return <FirstAgent name={part} />;
  return id === undefined || id === 'new' ? <AgentList /> : <AgentView key={id} id={id} part={part} />;
}
