/**
 * What the agent's owner has set for its widgets: `GET /v1/agent/agents/{id}/widget` of a public agent (docs/widget.md). Attributes
 * of the element win over it. Whatever cannot be read in time is as if it were not set.
 */

/** Time for reading them; nobody waits longer for a button. */
const READ_MS = 3000;

const STRINGS = ['agent_name', 'greeting', 'proactive_message', 'consent_text'] as const;
const FLAGS = ['consent_required', 'transcript_enabled', 'text_input_enabled', 'mic_muting_enabled'] as const;

export type Settings = Partial<
  Readonly<Record<(typeof STRINGS)[number], string> & Record<(typeof FLAGS)[number], boolean>>
> & { readonly text_contents?: Readonly<Record<string, string>> };

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of that type. */
const ofType = (fields: Fields, type: 'string' | 'boolean', names = Object.keys(fields)): Fields =>
  Object.fromEntries(
    names.filter((name) => typeof fields[name] === type).map((name) => [name, fields[name]]),
  );

/** What of an answer is one: the gateway may be of another version. */
function settingsIn(answer: unknown): Settings {
  if (!isFields(answer)) return {};
  const { text_contents: texts } = answer;
  return {
    ...ofType(answer, 'string', [...STRINGS]),
    ...ofType(answer, 'boolean', [...FLAGS]),
    ...(isFields(texts) && { text_contents: ofType(texts, 'string') as Readonly<Record<string, string>> }),
  };
}

export const settingsAddress = (baseUrl: string, agentId: string): string =>
  `${baseUrl.replace(/\/+$/, '')}/v1/agent/agents/${encodeURIComponent(agentId)}/widget`;

/** Never rejects. */
export async function readSettings(address: string, ms = READ_MS): Promise<Settings> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(ms), credentials: 'omit' });
    return answer.ok ? settingsIn(await answer.json()) : {};
  } catch {
    return {};
  }
}
