/** `agents` lists the agents, `agents/new` makes one from a template, `agents/ID` shows one, `agents/ID/versions` a part of it. */
import { useAddress } from '../../router.js';
import { AgentView } from './agent.js';
import { FirstAgent } from './first/index.js';
import { AgentList } from './list.js';

export function Agents() {
  const [, id, part] = useAddress().path;
  if (id === 'new') return <FirstAgent name={part} />;
  return id === undefined ? <AgentList /> : <AgentView key={id} id={id} part={part} />;
}
