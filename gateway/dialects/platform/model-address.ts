/** Checks of an agent's own language model beyond its schema (docs/contract/platform.md 6.3). */
import type { AgentConfig, ConfigChanges } from '../../../contracts/schemas/agent-config.js';
import { modelAddress } from '../../../contracts/schemas/agent-merge.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import { problem } from './errors.js';
import type { PlatformParts } from './parts.js';

type Outbound = Pick<PlatformParts['outbound'], 'checkUrl'>;
type Changed = NonNullable<NonNullable<ConfigChanges['llm']>['custom']>;

/** What a header can carry. */
const SENDABLE = /^[\x21-\x7e]+$/;

const at = (leaf: keyof Changed, why: string, type: string): Problem =>
  problem(['llm', 'custom', leaf], `llm.custom.${leaf} ${why}`, type);

/** Why the address cannot be that of a model, as the end of a sentence; undefined if it can. */
export function addressRefusal(url: string, outbound: Outbound): string | undefined {
  const refusal = outbound.checkUrl(modelAddress(url), { https: true });
  if (refusal !== undefined) return refusal;
  const { search, hash } = new URL(url);
  return search !== '' || hash !== '' || /[?#]/.test(url) ? 'must have no query and no fragment' : undefined;
}

function keyProblem({ api_key: key }: Changed, stored: AgentConfig | undefined): Problem[] {
  if (typeof key === 'string')
    return SENDABLE.test(key) ? [] : [at('api_key', 'must be printable ASCII without blanks', 'api_key')];
  return stored?.llm.custom ? [] : [at('api_key', 'is required for a new model', 'required')];
}

/** `stored`: the configuration that is changed; undefined for a new agent. */
export function modelProblems(
  { llm }: ConfigChanges,
  stored: AgentConfig | undefined,
  outbound: Outbound,
): Problem[] {
  const { tier, custom = stored?.llm.custom } = llm ?? {};
  const excluded =
    custom && tier && tier !== 'medium'
      ? [problem(['llm', 'tier'], 'llm.tier cannot be chosen together with llm.custom', 'exclusive')]
      : [];
  if (!llm?.custom) return excluded;
  const refusal = addressRefusal(llm.custom.base_url, outbound);
  const address = refusal === undefined ? [] : [at('base_url', refusal, 'url')];
  return [...excluded, ...address, ...keyProblem(llm.custom, stored)];
}
