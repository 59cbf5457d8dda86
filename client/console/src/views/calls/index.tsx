/** `calls` lists the calls, `calls/ID` shows one, from `t` seconds on. */
import { useAddress } from '../../router.js';
import { CallList } from './list.js';
import { CallView } from './call.js';

export function Calls() {
  const { path, query } = useAddress();
  const id = path[1];
  if (id === undefined) return <CallList />;
  return <CallView key={id} id={id} initial={Number(query.get('t')) || 0} />;
}
