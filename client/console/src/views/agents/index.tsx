/** `agents` lists the agents, `agents/ID` shows one, `agents/ID/versions` a part of it. */
import { useAddress } from '../../router.js';
import { AgentView } from './agent.js';
import { AgentList } from './list.js';

export function Agents() {
  const [, id, part] = useAddress().path;
  return id === undefined ? <AgentList /> : <AgentView key={id} id={id} part={part} />;
}
