/**
 * Merges a change into a configuration (docs/contract/decisions.md 14). An absent field is kept; null takes a leaf back to
 * its default, lists too, and keeps a section; lists and dictionaries are replaced wholesale, objects merged.
 */
import { createHash } from 'node:crypto';
import { isPlainObject, type PlainObject } from './plain-object.js';
import type { CustomModel } from './agent-model.js';
import { secretChange } from './write-only.js';
import { type ConversationInit, INIT_DEFAULTS, type InitChange, type Webhooks } from './agent-webhooks.js';
import {
  type AgentConfig,
  type ConfigChanges,
  DEFAULT_CONFIG,
  ITEM_DEFAULTS,
  OBJECT_DEFAULTS,
} from './agent-config.js';

/** List items with their defaults filled in; ids without duplicates. */
function completed(name: string, items: readonly unknown[]): readonly unknown[] {
  const defaults = (ITEM_DEFAULTS as Readonly<Record<string, PlainObject>>)[name];
  return defaults ? items.map((item) => ({ ...defaults, ...(item as PlainObject) })) : [...new Set(items)];
}

const objectOf = (value: unknown): PlainObject => (isPlainObject(value) ? value : {});

/** Objects whose members are no fields: they are replaced wholesale, like lists. */
const WHOLE: ReadonlySet<string> = new Set(['text_contents']);

/** A member after its change; `usual` is its default. */
function changed(name: string, value: unknown, current: unknown, usual: unknown): unknown {
  if (WHOLE.has(name)) return value ?? usual;
  const whole = (OBJECT_DEFAULTS as Readonly<Record<string, PlainObject>>)[name];
  if (value === null && usual === undefined) return current === undefined ? null : current;
  if (value === null) return isPlainObject(usual) && !whole ? current : usual;
  if (Array.isArray(value)) return completed(name, value);
  if (!isPlainObject(value)) return value;
  return merge({ ...whole, ...objectOf(current) }, value, { ...whole, ...objectOf(usual) });
}

function merge(current: PlainObject, changes: PlainObject, defaults: PlainObject): PlainObject {
  const merged: Record<string, unknown> = { ...current };
  for (const [name, value] of Object.entries(changes))
    merged[name] = changed(name, value, current[name], defaults[name]);
  return merged;
}

/** A stored configuration, with defaults for fields that are newer than it. */
export const completeConfig = (stored: unknown): AgentConfig =>
  merge(DEFAULT_CONFIG, stored as PlainObject, DEFAULT_CONFIG) as AgentConfig;

/** A secret to keep under a webhook's address, or another place (`initSlot`); null to forget it. */
export interface WebhookSecret {
  readonly url: string;
  readonly secret: string | null;
}

/** The key of the agent's own model to keep under its address: a new one, or that of the address so far. */
export type ModelKeyChange = { readonly baseUrl: string } & (
  | { readonly key: string }
  | { readonly keyOf: string }
);

export interface ConfigRevision {
  readonly config: AgentConfig;
  readonly secrets: readonly WebhookSecret[];
  readonly modelKey?: ModelKeyChange;
}

interface WantedHook {
  readonly url: string;
  readonly secret: string | null | undefined;
}

function mergePostCall(current: Webhooks, wanted: readonly WantedHook[]): Webhooks['post_call'] {
  const known = new Map(current.post_call.map(({ url, has_secret: has }) => [url, has]));
  return wanted.map(({ url, secret }) => ({
    url,
    has_secret: secret === undefined ? (known.get(url) ?? false) : secret !== null,
  }));
}

const COMPLETIONS = /\/chat\/completions\/*$/;

/** The address of a model as it is kept: without `/chat/completions` and slashes at its end. */
export const modelAddress = (url: string): string => url.replace(COMPLETIONS, '').replace(/\/+$/, '');

/** Custom and tier exclude each other: with a model of its own an agent has the usual tier. Without a key, one is kept already. */
function reviseModel(
  current: AgentConfig['llm'],
  { tier = current.tier, custom }: NonNullable<ConfigChanges['llm']>,
  usual: AgentConfig['llm'],
): { readonly llm: AgentConfig['llm']; readonly modelKey?: ModelKeyChange } {
  const chosen = tier ?? usual.tier;
  const before = current.custom;
  if (!custom) return { llm: { ...current, tier: chosen, custom: custom === undefined ? before : null } };
  const { api_key: key, model } = custom;
  const baseUrl = modelAddress(custom.base_url);
  const own: CustomModel = { base_url: baseUrl, model, api_key: null, has_secret: true };
  const llm = { ...current, tier: usual.tier, custom: own };
  if (typeof key === 'string') return { llm, modelKey: { baseUrl, key } };
  if (!before || before.base_url === baseUrl) return { llm };
  return { llm, modelKey: { baseUrl, keyOf: before.base_url } };
}

/** The place of the secret of a question before calls: another one than that of events for the same address. */
export const initSlot = (url: string): string => `conversation.init ${url}`;

type Revised<Part> = { readonly part: Part; readonly secrets: readonly WebhookSecret[] };

function revisePostCall(
  current: Webhooks,
  hooks: NonNullable<ConfigChanges['webhooks']>['post_call'],
): Revised<Webhooks['post_call']> {
  if (hooks === undefined) return { part: current.post_call, secrets: [] };
  const wanted = (hooks ?? []).map(({ url, secret, has_secret: has }) => ({
    url,
    secret: secretChange(secret, has),
  }));
  const secrets = wanted.flatMap(({ url, secret }) => (secret === undefined ? [] : [{ url, secret }]));
  return { part: mergePostCall(current, wanted), secrets };
}

/** What the change leaves out stays as it is; the secret only at the same address. */
function reviseInit(
  { conversation_init: current }: Webhooks,
  init: InitChange | null | undefined,
): Revised<Webhooks['conversation_init']> {
  if (init === undefined) return { part: current, secrets: [] };
  if (init === null) return { part: null, secrets: [] };
  const { url, secret: sent, has_secret: has, ...rest } = init;
  const secret = secretChange(sent, has);
  const kept = current?.url === url && current.has_secret;
  const has_secret = secret === undefined ? kept : secret !== null;
  const settings = merge({ ...INIT_DEFAULTS, ...settingsOf(current) }, rest, INIT_DEFAULTS);
  const part = { url, has_secret, ...(settings as typeof INIT_DEFAULTS) };
  return { part, secrets: secret === undefined ? [] : [{ url: initSlot(url), secret }] };
}

const settingsOf = (init: ConversationInit | null) =>
  init === null ? {} : { timeout_seconds: init.timeout_seconds, web: init.web };

/** The configuration after the change, and the secrets that came with it. `defaults`: what null means. */
export function reviseConfig(
  current: AgentConfig,
  { webhooks, llm: model, ...changes }: ConfigChanges,
  defaults: AgentConfig = DEFAULT_CONFIG,
): ConfigRevision {
  const { llm, ...key } = reviseModel(current.llm, model ?? {}, defaults.llm);
  const config = { ...(merge(current, changes, defaults) as AgentConfig), llm };
  const posted = revisePostCall(current.webhooks, webhooks?.post_call);
  const asked = reviseInit(current.webhooks, webhooks?.conversation_init);
  return {
    config: { ...config, webhooks: { post_call: posted.part, conversation_init: asked.part } },
    secrets: [...posted.secrets, ...asked.secrets],
    ...key,
  };
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
