/** Checks of an agent's own language model beyond its schema (docs/contract/platform.md 6.3). */
import type { HashedConfig } from '../../../contracts/ports/agents/agents.js';
import type { AgentConfig, ConfigChanges } from '../../../contracts/schemas/agent-config.js';
import type { CustomModel } from '../../../contracts/schemas/agent-model.js';
import { modelAddress } from '../../../contracts/schemas/agent-merge.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import { problem } from './errors.js';
import type { PlatformParts } from './parts.js';

type Outbound = Pick<PlatformParts['outbound'], 'checkUrl'>;
type Changed = NonNullable<NonNullable<ConfigChanges['llm']>['custom']>;

/** What a header can carry. */
const SENDABLE = /^[\x21-\x7e]+$/;

const at = (leaf: keyof Changed, why: string, type: string): Problem =>
  problem(['custom', leaf], `custom.${leaf} ${why}`, type);

/** The same below `llm`. */
const below = ({ loc, message, ...rest }: Problem): Problem => ({
  ...rest,
  loc: ['llm', ...loc],
  message: `llm.${message}`,
});

/** Why the address cannot be that of a model, as the end of a sentence; undefined if it can. */
function addressRefusal(url: string, outbound: Outbound): string | undefined {
  const refusal = outbound.checkUrl(modelAddress(url), { https: true });
  if (refusal !== undefined) return refusal;
  const { search, hash } = new URL(url);
  return search !== '' || hash !== '' || /[?#]/.test(url) ? 'must have no query and no fragment' : undefined;
}

function keyProblem({ api_key: key }: Changed, isKept: boolean): Problem[] {
  if (typeof key === 'string')
    return SENDABLE.test(key) ? [] : [at('api_key', 'must be printable ASCII without blanks', 'api_key')];
  return isKept ? [] : [at('api_key', 'is required for a new model', 'required')];
}

function addressProblem({ base_url: url }: Changed, outbound: Outbound): Problem[] {
  const refusal = addressRefusal(url, outbound);
  return refusal === undefined ? [] : [at('base_url', refusal, 'url')];
}

/** Of a model that is tried out; the stored key is sent to its own address only. */
export const modelTestProblems = (
  custom: Changed | null | undefined,
  stored: CustomModel | null,
  outbound: Outbound,
): Problem[] =>
  custom
    ? [
        ...addressProblem(custom, outbound),
        ...keyProblem(custom, stored?.base_url === modelAddress(custom.base_url)),
      ]
    : [];

/** Warnings, at publication, about a language model that is not the one that was meant, or that will not be asked. */
export async function modelWarnings(
  { agentId, config: { llm } }: Pick<HashedConfig, 'agentId' | 'config'>,
  outbound: Outbound,
  models: Pick<PlatformParts['models'], 'hasKey' | 'hasTier'>,
): Promise<string[]> {
  const { tier, custom } = llm;
  if (!custom)
    return models.hasTier(tier)
      ? []
      : [`This gateway has no language model for the tier "${tier}": the usual one answers`];
  const refusal = addressRefusal(custom.base_url, outbound);
  return [
    ...(refusal === undefined ? [] : [`The address of the language model ${refusal}: calls fail`]),
    ...((await models.hasKey(agentId, custom.base_url)) ? [] : ['The language model has no key: calls fail']),
  ];
}

/** Whether a model without a key has one already: that of the draft, or of a version with the same address. */
export async function keepsKey(
  { llm }: ConfigChanges,
  { agentId, config }: Pick<HashedConfig, 'agentId' | 'config'>,
  models: Pick<PlatformParts['models'], 'hasKey'>,
): Promise<boolean> {
  if (!llm?.custom || config.llm.custom) return true;
  return models.hasKey(agentId, modelAddress(llm.custom.base_url));
}

/** `stored`: the configuration that is changed; undefined for a new agent. */
export function modelProblems(
  { llm }: ConfigChanges,
  stored: AgentConfig | undefined,
  isKept: boolean,
  outbound: Outbound,
): Problem[] {
  const { tier, custom = stored?.llm.custom } = llm ?? {};
  const excluded =
    custom && tier && tier !== 'medium'
      ? [problem(['llm', 'tier'], 'llm.tier cannot be chosen together with llm.custom', 'exclusive')]
      : [];
  if (!llm?.custom) return excluded;
  const own = [...addressProblem(llm.custom, outbound), ...keyProblem(llm.custom, isKept)];
  return [...excluded, ...own.map(below)];
}
