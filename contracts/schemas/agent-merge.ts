/**
 * Merges a change into a configuration (docs/contract/decisions.md 14). An absent field is kept; null clears a field
 * that can be cleared and keeps others; lists are replaced, objects merged; nothing falls back to a default.
 */
import { createHash } from 'node:crypto';
import { isPlainObject, type PlainObject } from './plain-object.js';
import { secretChange } from './write-only.js';
import { type AgentConfig, type ConfigChanges, DEFAULT_CONFIG, ITEM_DEFAULTS } from './agent-config.js';

/** Fields that null clears, each with its cleared value. */
const CLEARED: PlainObject = { 'analysis.summary.prompt': null };

/** List items with their defaults filled in; ids without duplicates. */
function completed(name: string, items: readonly unknown[]): readonly unknown[] {
  const defaults = (ITEM_DEFAULTS as Readonly<Record<string, PlainObject>>)[name];
  return defaults ? items.map((item) => ({ ...defaults, ...(item as PlainObject) })) : [...new Set(items)];
}

function merge(current: PlainObject, changes: PlainObject, path = ''): PlainObject {
  const merged: Record<string, unknown> = { ...current };
  for (const [name, value] of Object.entries(changes)) {
    const at = path + name;
    if (value === null && Object.hasOwn(CLEARED, at)) merged[name] = CLEARED[at];
    else if (value === null) continue;
    else if (Array.isArray(value)) merged[name] = completed(name, value);
    else if (isPlainObject(value))
      merged[name] = merge(isPlainObject(current[name]) ? current[name] : {}, value, `${at}.`);
    else merged[name] = value;
  }
  return merged;
}

/** A stored configuration, with defaults for fields that are newer than it. */
export const completeConfig = (stored: unknown): AgentConfig =>
  merge(DEFAULT_CONFIG, stored as PlainObject) as AgentConfig;

/** A secret to keep under a webhook's address; null to forget it. */
export interface WebhookSecret {
  readonly url: string;
  readonly secret: string | null;
}

export interface ConfigRevision {
  readonly config: AgentConfig;
  readonly secrets: readonly WebhookSecret[];
}

interface WantedHook {
  readonly url: string;
  readonly secret: string | null | undefined;
}

function mergeWebhooks(
  current: AgentConfig,
  wanted: readonly WantedHook[],
): ConfigRevision['config']['webhooks'] {
  const known = new Map(current.webhooks.post_call.map(({ url, has_secret: has }) => [url, has]));
  return {
    post_call: wanted.map(({ url, secret }) => ({
      url,
      has_secret: secret === undefined ? (known.get(url) ?? false) : secret !== null,
    })),
  };
}

/** The configuration after the change, and the secrets that came with it. */
export function reviseConfig(current: AgentConfig, { webhooks, ...changes }: ConfigChanges): ConfigRevision {
  const config = merge(current, changes) as AgentConfig;
  const hooks = webhooks?.post_call === null ? [] : webhooks?.post_call;
  if (hooks === undefined) return { config, secrets: [] };
  const wanted = hooks.map(({ url, secret, has_secret: has }) => ({
    url,
    secret: secretChange(secret, has),
  }));
  const secrets = wanted.flatMap(({ url, secret }) => (secret === undefined ? [] : [{ url, secret }]));
  return { config: { ...config, webhooks: mergeWebhooks(current, wanted) }, secrets };
}

/** Members in order of their names, so that the same content is the same text. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isPlainObject(value)) return value;
  const names = Object.keys(value).sort();
  return names.map((name) => [name, canonical(value[name])]);
}

/** Equal for the same content. */
export const contentDigest = (content: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(content)))
    .digest('hex');

export interface HashedContent {
  readonly config: AgentConfig;
  /** Attached tools, in the order of attachment. */
  readonly tools: readonly { readonly id: string; readonly digest: string }[];
  readonly knowledge: readonly { readonly sourceId: string; readonly revision: number }[];
}

/** Equal if published versions would be equal (decision 15): configuration, tools, revisions; no secret. */
export const configHash = ({ config, tools, knowledge }: HashedContent): string =>
  `sha256:${contentDigest({ config, tools, knowledge })}`;
